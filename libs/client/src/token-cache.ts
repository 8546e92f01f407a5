import { setTimeout as delay } from 'node:timers/promises';
import { abortable, withTimeout } from './abort';
import { ConnectionLost } from './problem';
import { type StoredToken, type TokenStore, type Unlock } from './token-store';

/** A waiting worker reads the store this often. */
const LOOK_MS = 20;

/** Time limits in milliseconds. */
export interface TokenLimits {
  /** Maximum wait of one call for a token. */
  readonly waitMs: number;
  /**
   * Maximum duration of a renewal, which continues after a call gave up. Must exceed the lifetime of a dead worker's
   * lock.
   */
  readonly renewalMs: number;
}

/**
 * Keeps the token of one application and renews it as rarely as possible. Calls of this process share one renewal.
 * Processes that share the store renew one at a time.
 */
export class TokenCache {
  // Private fields, so that printing a client shows no token.
  readonly #application: string;
  readonly #store: TokenStore;
  readonly #issue: () => Promise<StoredToken>;
  readonly #limits: TokenLimits;
  #current: StoredToken | null = null;
  #renewal: Promise<StoredToken> | null = null;

  /** `issue` requests a new token from the API, once. */
  constructor(application: string, store: TokenStore, issue: () => Promise<StoredToken>, limits: TokenLimits) {
    this.#application = application;
    this.#store = store;
    this.#issue = issue;
    this.#limits = limits;
  }

  /** Returns a usable token. `refused` is a token that the API rejected; the result differs from it. */
  async get(refused: string | null, signal: AbortSignal): Promise<string> {
    if (this.#current !== null && isGood(this.#current, refused)) return this.#current.accessToken;
    const { waitMs } = this.#limits;
    // Throws at once for a cancelled call, so that no token is requested for it.
    return withTimeout(signal, waitMs, async (limited) => {
      try {
        return await this.#renewed(refused, limited);
      } catch (error) {
        signal.throwIfAborted();
        if (!limited.aborted) throw error;
        throw new ConnectionLost(new Error(`no token within ${waitMs} ms; another worker may be about to take one`));
      }
    });
  }

  async #renewed(refused: string | null, signal: AbortSignal): Promise<string> {
    for (;;) {
      this.#renewal ??= this.#renew(refused).finally(() => (this.#renewal = null));
      // The renewal continues for other calls when this one is cancelled.
      const { accessToken } = await abortable(this.#renewal, signal);
      // The renewal may have started before this token was refused, and may have found the same one.
      if (accessToken !== refused) return accessToken;
    }
  }

  /** Ends within its time limit, so that another renewal can start. Its timers do not keep the process alive. */
  async #renew(refused: string | null): Promise<StoredToken> {
    const signal = AbortSignal.timeout(this.#limits.renewalMs);
    try {
      return await abortable(this.#findOrTake(refused, signal), signal);
    } catch (error) {
      throw signal.aborted ? new ConnectionLost(error) : error;
    }
  }

  /** Requests a token only if no other worker has a newer one or is about to get one. */
  async #findOrTake(refused: string | null, signal: AbortSignal): Promise<StoredToken> {
    for (;;) {
      const stored = await this.#find(refused);
      if (stored !== null) return stored;
      signal.throwIfAborted();
      const unlock = await this.#store.tryLock(this.#application);
      if (unlock !== null) return this.#takeUnder(unlock, refused);
      await delay(LOOK_MS + Math.random() * LOOK_MS, undefined, { signal, ref: false });
    }
  }

  async #takeUnder(unlock: Unlock, refused: string | null): Promise<StoredToken> {
    try {
      const stored = await this.#find(refused);
      if (stored !== null) return stored;
      const issued = await this.#issue();
      // The new token is the active one, whatever happens to the store.
      this.#current = issued;
      await this.#store.write(this.#application, issued);
      return issued;
    } finally {
      await unlock();
    }
  }

  async #find(refused: string | null): Promise<StoredToken | null> {
    const stored = await this.#store.read(this.#application);
    if (stored === null || !isGood(stored, refused)) return null;
    this.#current = stored;
    return stored;
  }
}

function isGood(token: StoredToken, refused: string | null): boolean {
  return token.accessToken !== refused && token.usableUntil > Date.now();
}
