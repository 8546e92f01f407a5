import { type StoredToken, type TokenStore, type Unlock } from './token-store';

/** Keeps tokens in this process. Clients that are given the same store share a token. */
export class MemoryTokenStore implements TokenStore {
  // Private fields, so that printing a store shows no token.
  readonly #tokens = new Map<string, StoredToken>();
  readonly #locks = new Set<string>();

  async read(application: string): Promise<StoredToken | null> {
    return this.#tokens.get(application) ?? null;
  }

  async write(application: string, token: StoredToken): Promise<void> {
    this.#tokens.set(application, token);
  }

  async tryLock(application: string): Promise<Unlock | null> {
    if (this.#locks.has(application)) return null;
    this.#locks.add(application);
    return async () => {
      this.#locks.delete(application);
    };
  }
}
