import { abortable, withTimeout } from './abort';
import { type StoredToken, type TokenStore, type Unlock } from './token-store';

/** Limits the time of every operation of a store. A hanging store fails calls, but does not block the client. */
export class LimitedTokenStore implements TokenStore {
  readonly #store: TokenStore;
  readonly #limitMs: number;

  constructor(store: TokenStore, limitMs: number) {
    this.#store = store;
    this.#limitMs = limitMs;
  }

  async read(application: string): Promise<StoredToken | null> {
    return this.#limited(this.#store.read(application));
  }

  async write(application: string, token: StoredToken): Promise<void> {
    return this.#limited(this.#store.write(application, token));
  }

  async tryLock(application: string): Promise<Unlock | null> {
    const unlock = await this.#limited(this.#store.tryLock(application));
    return unlock === null ? null : () => this.#limited(unlock());
  }

  async #limited<Result>(operation: Promise<Result>): Promise<Result> {
    return withTimeout(undefined, this.#limitMs, async (signal) => {
      try {
        return await abortable(operation, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new Error(`The token store did not answer within ${this.#limitMs} ms.`, { cause: error });
      }
    });
  }
}
