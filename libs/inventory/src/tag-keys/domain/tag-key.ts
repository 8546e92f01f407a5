/** A key that tags of the workspace may have. */
export interface TagKey {
  readonly key: string;
  /** What every asset with a customer key reads; null when it has none. Platform tags have one per asset, or this. */
  readonly value: string | null;
  /** Managed by the platform: clients cannot write tags of this key. */
  readonly platform: boolean;
  readonly createdAt: Date;
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/** Order of the code points, which is that of UTF-16 but for surrogates: they stand for what comes after all else. */
export function byCodePoints(first: string, second: string): number {
  const shorter = Math.min(first.length, second.length);
  for (let place = 0; place < shorter; place += 1) {
    const [one, other] = [first.charCodeAt(place), second.charCodeAt(place)];
    if (one !== other) return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
  }
  return first.length - second.length;
}

const isSurrogate = (unit: number): boolean => unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE;
