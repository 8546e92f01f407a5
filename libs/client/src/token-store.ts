/** An access token as workers share it. */
export interface StoredToken {
  readonly accessToken: string;
  /** Workers send the token until this time, shortly before it expires. Milliseconds since 1970. */
  readonly usableUntil: number;
}

/** Releases a lock that is still held. */
export type Unlock = () => Promise<void>;

/** Maximum time for which a worker that died blocks the others from requesting a token. */
export const LOCK_MS = 30_000;

/**
 * Shares one token between the workers of an application. Only one token is active at a time, so a worker that requests
 * its own ends the token of all others. `application` is any text; each has its own token and lock.
 */
export interface TokenStore {
  /** Returns the token written last. Null when there is none or it is unreadable. */
  read(application: string): Promise<StoredToken | null>;
  write(application: string, token: StoredToken): Promise<void>;
  /** Returns null while another worker holds the lock. The lock expires after `LOCK_MS`. */
  tryLock(application: string): Promise<Unlock | null>;
}

/** Parses a stored token. */
export function parseStoredToken(text: string): StoredToken | null {
  try {
    const { accessToken, usableUntil } = JSON.parse(text) as Partial<StoredToken>;
    return typeof accessToken === 'string' && typeof usableUntil === 'number' ? { accessToken, usableUntil } : null;
  } catch {
    return null;
  }
}
