/** An access token as workers hand it to one another. */
export interface StoredToken {
  readonly accessToken: string;
  /** Until when workers send it: a little before it expires, in milliseconds since 1970. */
  readonly usableUntil: number;
}

/** Gives a lock back, if it is still held. */
export type Unlock = () => Promise<void>;

/** How long a worker that died in the middle keeps the others from taking a token. */
export const LOCK_MS = 30_000;

/**
 * Where the workers of an application share its token: only one is active at a time, so a worker that took one of its own
 * would end that of all the others. `application` is any text; each has a token and a lock of its own.
 */
export interface TokenStore {
  /** The token that was written last; null when there is none, or nothing that can be read as one. */
  read(application: string): Promise<StoredToken | null>;
  write(application: string, token: StoredToken): Promise<void>;
  /** The right to take a new token; null while another worker has it. It lapses after `LOCK_MS`. */
  tryLock(application: string): Promise<Unlock | null>;
}

/** Reads what a store has kept as text. */
export function parseStoredToken(text: string): StoredToken | null {
  try {
    const { accessToken, usableUntil } = JSON.parse(text) as Partial<StoredToken>;
    return typeof accessToken === 'string' && typeof usableUntil === 'number' ? { accessToken, usableUntil } : null;
  } catch {
    return null;
  }
}
