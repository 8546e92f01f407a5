import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from './abort';
import { LOCK_MS, type StoredToken, type TokenStore, type Unlock } from './token-store';

/** A worker that waits looks at the store this often. */
const LOOK_MS = 20;

/**
 * The token of one application, taken as rarely as can be: calls of this process wait for one and the same renewal, and
 * renewals of all processes that share the store for one another.
 */
export class TokenCache {
  private current: StoredToken | null = null;
  private renewal: Promise<StoredToken> | null = null;

  constructor(
    private readonly application: string,
    private readonly store: TokenStore,
    /** Asks the API for a new token, once. */
    private readonly issue: () => Promise<StoredToken>,
  ) {}

  /** A token to send. `refused` is one that the API did not accept: what comes is another. */
  async get(refused: string | null, signal: AbortSignal): Promise<string> {
    for (;;) {
      if (this.current !== null && isGood(this.current, refused)) return this.current.accessToken;
      this.renewal ??= this.renew(refused).finally(() => (this.renewal = null));
      // The renewal goes on for the other calls when this one is given up.
      const { accessToken } = await abortable(this.renewal, signal);
      // It may have begun before this token was refused, and have found the same.
      if (accessToken !== refused) return accessToken;
    }
  }

  /** Another worker may have a newer token already, or be about to; only then is one taken here. */
  private async renew(refused: string | null): Promise<StoredToken> {
    for (const deadline = Date.now() + 2 * LOCK_MS; Date.now() < deadline;) {
      const stored = await this.find(refused);
      if (stored !== null) return stored;
      const unlock = await this.store.tryLock(this.application);
      if (unlock !== null) return this.takeUnder(unlock, refused);
      await delay(LOOK_MS + Math.random() * LOOK_MS);
    }
    throw new Error('The token store stayed locked by other workers, and none of them stored a token.');
  }

  private async takeUnder(unlock: Unlock, refused: string | null): Promise<StoredToken> {
    try {
      const stored = await this.find(refused);
      if (stored !== null) return stored;
      const issued = await this.issue();
      // Whatever becomes of the store, this token is the active one now.
      this.current = issued;
      await this.store.write(this.application, issued);
      return issued;
    } finally {
      await unlock();
    }
  }

  private async find(refused: string | null): Promise<StoredToken | null> {
    const stored = await this.store.read(this.application);
    if (stored === null || !isGood(stored, refused)) return null;
    this.current = stored;
    return stored;
  }
}

function isGood(token: StoredToken, refused: string | null): boolean {
  return token.accessToken !== refused && token.usableUntil > Date.now();
}
