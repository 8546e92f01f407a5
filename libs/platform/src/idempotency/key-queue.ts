/** The result of waiting: `turn` to proceed alone, `succeeded` when the previous request succeeded. */
export type Admission =
  { readonly kind: 'turn'; readonly end: (succeeded: boolean) => void } | { readonly kind: 'succeeded' };

interface Waiter {
  admit(admission: Admission): void;
}

/**
 * Serializes this instance's requests with the same key, in order of arrival. A waiting request costs one closure and
 * no connection. Different keys do not wait for each other. Entries exist only while a request with the key is running.
 */
export class KeyQueue {
  private readonly waiting = new Map<string, Waiter[]>();

  /** Returns null when the turn does not come in time. */
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
    return { kind: 'turn', end: (succeeded) => this.passOn(key, succeeded) };
  }

  /** After a success nobody needs a turn: all waiters read the response at once. */
  private passOn(key: string, succeeded: boolean): void {
    const waiters = this.waiting.get(key) ?? [];
    const next = succeeded ? undefined : waiters.shift();
    if (next) {
      next.admit(this.turn(key));
      return;
    }
    this.waiting.delete(key);
    for (const waiter of waiters) waiter.admit({ kind: 'succeeded' });
  }
}
