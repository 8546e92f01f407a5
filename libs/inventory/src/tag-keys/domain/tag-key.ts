/** A key for tags of the workspace. */
export interface TagKey {
  readonly key: string;
  /**
   * The value on every asset with a customer key, or null. A platform tag may have a value of its own; this is its
   * default.
   */
  readonly value: string | null;
  /** True for keys managed by the platform: clients cannot write such tags. */
  readonly platform: boolean;
  readonly createdAt: Date;
}

/** A tag key as clients see it. */
export interface CountedTagKey extends Omit<TagKey, 'createdAt'> {
  /** Visible assets with the key. */
  readonly assetCount: number;
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/** Sorts by code points. Differs from UTF-16 order only for surrogates, which stand for the highest code points. */
export function byCodePoints(first: string, second: string): number {
  const shorter = Math.min(first.length, second.length);
  for (let place = 0; place < shorter; place += 1) {
    const [one, other] = [first.charCodeAt(place), second.charCodeAt(place)];
    if (one !== other) return isSurrogate(one) === isSurrogate(other) ? one - other : isSurrogate(one) ? 1 : -1;
  }
  return first.length - second.length;
}

const isSurrogate = (unit: number): boolean => unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE;
