/** How long every replica has to take up a new key before tokens or cursors are made with it. */
export const PUBLISHED_BEFORE_USE_MS = 60_000;

/**
 * How long a process that serves knows a new key before it makes tokens or cursors with it, whatever the key says of its
 * age: it may have been made beforehand, or by a clock that is behind. Others, which read as often, have it by then.
 */
export const KNOWN_BEFORE_USE_MS = 10_000;

/** Any key that replaces others and is replaced in its turn. */
export interface DatedKey {
  readonly kid: string;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly createdAt: number;
  /** When this process first read it, in the same milliseconds; absent when it did so at its start. */
  readonly seenAt?: number;
}

/** Newest first; two of the same moment in the same order on every replica. */
export function newestFirst(one: DatedKey, other: DatedKey): number {
  return other.createdAt - one.createdAt || (one.kid < other.kid ? 1 : -1);
}

/** From when new tokens or cursors are made with a key that others stand beside. */
export const usedFrom = (createdAt: number): number => createdAt + PUBLISHED_BEFORE_USE_MS;

/**
 * The key that new tokens or cursors are made with, of keys that stand newest first: the newest that every replica must
 * have taken up by now. Where none is that old, as in a directory just made or after an emergency removal, the oldest:
 * it is the one that most replicas know. Undefined when there is no key.
 */
export function keyInUse<Key extends DatedKey>(keys: readonly Key[], now: number): Key | undefined {
  const isKnown = ({ seenAt }: DatedKey): boolean => seenAt === undefined || seenAt + KNOWN_BEFORE_USE_MS <= now;
  return keys.find((key) => usedFrom(key.createdAt) <= now && isKnown(key)) ?? keys.at(-1);
}

/** When a key made now counts as made: after every other, also where the clock was set back since. */
export function madeAfter(newest: DatedKey | undefined, now: number): number {
  return newest === undefined ? now : Math.max(now, newest.createdAt + 1);
}

/** There is no usable key at the start of a process, or none that a command could work on. */
export class KeysUnusable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeysUnusable';
  }
}

/** A removal that would leave no key that can be used. */
export class LastKey extends Error {
  constructor(use: 'signing' | 'cursor', kid: string) {
    super(`${kid} is the last ${use} key that can be used; make another first: admin keys rotate ${use}`);
    this.name = 'LastKey';
  }
}
