import { setTimeout as delay } from 'node:timers/promises';
import { abortable, withTimeout } from './abort';
import { ConnectionLost } from './problem';
import { type StoredToken, type TokenStore, type Unlock } from './token-store';

/** A worker that waits looks at the store this often. */
const LOOK_MS = 20;

/** How long things may take, in milliseconds. */
export interface TokenLimits {
  /** What one call waits for a token. */
  readonly waitMs: number;
  /** A renewal, which goes on when a call has given up. It must outlast the lock of a worker that died. */
  readonly renewalMs: number;
}

/**
 * The token of one application, taken as rarely as can be: calls of this process wait for one and the same renewal, and
 * renewals of all processes that share the store for one another.
 */
export class TokenCache {
  // Private to the language, so that whoever prints a client prints no token.
  readonly #application: string;
  readonly #store: TokenStore;
  readonly #issue: () => Promise<StoredToken>;
  readonly #limits: TokenLimits;
  #current: StoredToken | null = null;
  #renewal: Promise<StoredToken> | null = null;

  /** `issue` asks the API for a new token, once. */
  constructor(application: string, store: TokenStore, issue: () => Promise<StoredToken>, limits: TokenLimits) {
    this.#application = application;
    this.#store = store;
    this.#issue = issue;
    this.#limits = limits;
  }

  /** A token to send. `refused` is one that the API did not accept: what comes is another. */
  async get(refused: string | null, signal: AbortSignal): Promise<string> {
    if (this.#current !== null && isGood(this.#current, refused)) return this.#current.accessToken;
    const { waitMs } = this.#limits;
    // It throws at once for a call that was given up: no token is taken for that.
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
      // The renewal goes on for the other calls when this one is given up.
      const { accessToken } = await abortable(this.#renewal, signal);
      // It may have begun before this token was refused, and have found the same.
      if (accessToken !== refused) return accessToken;
    }
  }

  /**
   * Ends in its time whatever it waits for, so that another can begin. Its own timers hold no process: when all calls are
   * given up, nobody is there for whom to wait.
   */
  async #renew(refused: string | null): Promise<StoredToken> {
    const signal = AbortSignal.timeout(this.#limits.renewalMs);
    try {
      return await abortable(this.#findOrTake(refused, signal), signal);
    } catch (error) {
      throw signal.aborted ? new ConnectionLost(error) : error;
    }
  }

  /** Another worker may have a newer token already, or be about to; only then is one taken here. */
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
      // Whatever becomes of the store, this token is the active one now.
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
