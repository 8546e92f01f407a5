import { DomainError } from '#libs/kernel';

/** Ends a wait: a turn to proceed alone, or the result of the previous request. */
export type Admission<Result> =
  | { readonly kind: 'turn'; readonly end: (result: Result | null) => void }
  | { readonly kind: 'result'; readonly result: Result };

interface Waiter<Result> {
  admit(admission: Admission<Result>): void;
}

/**
 * Serializes this instance's requests with the same key, in order of arrival. A waiting request costs one closure and
 * no connection. Different keys do not wait for each other. Entries exist only while a request with the key is running.
 */
export class KeyQueue<Result> {
  private readonly waiting = new Map<string, Waiter<Result>[]>();

  /** Returns null when the turn does not come in time. */
  async enter(key: string, patienceMs: number): Promise<Admission<Result> | null> {
    const waiters = this.waiting.get(key);
    if (waiters) return this.wait(waiters, patienceMs);
    this.waiting.set(key, []);
    return this.turn(key);
  }

  /**
   * Does work in a turn of its own, whose result is passed to nobody.
   * @throws `service_unavailable` with this detail when the turn does not come in time
   */
  async inTurn<Done>(key: string, patienceMs: number, detail: string, work: () => Promise<Done>): Promise<Done> {
    const admission = await this.enter(key, patienceMs);
    if (admission?.kind !== 'turn') throw new DomainError('service_unavailable', detail);
    try {
      return await work();
    } finally {
      admission.end(null);
    }
  }

  private wait(waiters: Waiter<Result>[], patienceMs: number): Promise<Admission<Result> | null> {
    return new Promise((resolve) => {
      const waiter: Waiter<Result> = {
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

  private turn(key: string): Admission<Result> {
    return { kind: 'turn', end: (result) => this.passOn(key, result) };
  }

  /** A result is passed to all who wait. Without one the next in order gets a turn. */
  private passOn(key: string, result: Result | null): void {
    const waiters = this.waiting.get(key) ?? [];
    const next = result === null ? waiters.shift() : undefined;
    if (next) {
      next.admit(this.turn(key));
      return;
    }
    this.waiting.delete(key);
    if (result !== null) for (const waiter of waiters) waiter.admit({ kind: 'result', result });
  }
}
