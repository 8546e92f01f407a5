/** A key that tags of the workspace may have. */
export interface TagKey {
  readonly key: string;
  /** What every asset with a customer key reads; null when it has none. Platform tags have a value per asset. */
  readonly value: string | null;
  /** Managed by the platform: clients cannot write tags of this key. */
  readonly platform: boolean;
  readonly createdAt: Date;
}

/** Order of the code points: that of UTF-8's bytes, which differs from that of UTF-16 above U+FFFF. */
export function byCodePoints(first: string, second: string): number {
  return Buffer.compare(Buffer.from(first), Buffer.from(second));
}
