/** Time for every instance to load a new key before it is used. */
const PUBLISHED_BEFORE_USE_MS = 60_000;

/**
 * A running instance knows a key for at least this long before it uses it, whatever the key's age. The key may have
 * been made in advance, or by a slow clock. Other instances have read it by then.
 */
const KNOWN_BEFORE_USE_MS = 10_000;

/** Purposes of rotating keys. */
export type KeyUse = 'signing' | 'cursor' | 'checkpoint';

/** A key that takes part in rotation. */
export interface DatedKey {
  readonly kid: string;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly createdAt: number;
  /** Time when this instance first read the key. Absent for keys read at its start. */
  readonly seenAt?: number;
}

/** Sorts newest first. Keys of the same moment have the same order on every instance. */
export function newestFirst(one: DatedKey, other: DatedKey): number {
  return other.createdAt - one.createdAt || (one.kid < other.kid ? 1 : -1);
}

/** Earliest time at which a key is used when there are others. */
export const usedFrom = (createdAt: number): number => createdAt + PUBLISHED_BEFORE_USE_MS;

/**
 * Picks the key for new tokens or cursors from keys sorted newest first: the newest that every instance must know by
 * now. If none is old enough, picks the oldest, which most instances know. Undefined without keys.
 */
export function keyInUse<Key extends DatedKey>(keys: readonly Key[], now: number): Key | undefined {
  const isKnown = ({ seenAt }: DatedKey): boolean => seenAt === undefined || seenAt + KNOWN_BEFORE_USE_MS <= now;
  return keys.find((key) => usedFrom(key.createdAt) <= now && isKnown(key)) ?? keys.at(-1);
}

/** Returns the creation time for a new key: later than every other key, even after the clock was set back. */
export function madeAfter(newest: DatedKey | undefined, now: number): number {
  return newest === undefined ? now : Math.max(now, newest.createdAt + 1);
}

/** No usable key exists, at the start of an instance or for a command. */
export class KeysUnusable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeysUnusable';
  }
}

/** The removal would leave no usable key. */
export class LastKey extends Error {
  constructor(use: KeyUse, kid: string) {
    super(`${kid} is the last ${use} key that can be used; make another first: admin keys rotate ${use}`);
    this.name = 'LastKey';
  }
}
