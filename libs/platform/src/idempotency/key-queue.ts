/** Whose turn it is: `turn` to go on alone, `answered` when the one before succeeded. */
export type Admission =
  { readonly kind: 'turn'; readonly end: (answered: boolean) => void } | { readonly kind: 'answered' };

interface Waiter {
  admit(admission: Admission): void;
}

/**
 * Requests of this process with the same key, one at a time and in the order they came: the others wait here, where waiting
 * costs a closure and no connection. Keys do not wait for each other. Holds an entry only while a request with the key is
 * being answered.
 */
export class KeyQueue {
  private readonly waiting = new Map<string, Waiter[]>();

  /** Null when the turn did not come within the time. */
  async enter(key: string, patienceMs: number): Promise<Admission | null> {
    const waiters = this.waiting.get(key);
    if (waiters) return this.wait(waiters, patienceMs);
    this.waiting.set(key, []);
    return this.turn(key);
  }

  private wait(waiters: Waiter[], patienceMs: number): Promise<Admission | null> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        admit: (admission) => {
          clearTimeout(timer);
          resolve(admission);
        },
      };
      const timer = setTimeout(() => {
        waiters.splice(waiters.indexOf(waiter), 1);
        resolve(null);
      }, patienceMs);
      waiters.push(waiter);
    });
  }

  private turn(key: string): Admission {
    return { kind: 'turn', end: (answered) => this.passOn(key, answered) };
  }

  /** After an answer nobody needs a turn any more: it can be read by all at once. */
  private passOn(key: string, answered: boolean): void {
    const waiters = this.waiting.get(key) ?? [];
    const next = answered ? undefined : waiters.shift();
    if (next) {
      next.admit(this.turn(key));
      return;
    }
    this.waiting.delete(key);
    for (const waiter of waiters) waiter.admit({ kind: 'answered' });
  }
}
