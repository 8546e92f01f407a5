import type { Charge } from '#libs/kernel';
import { type BucketSize, chargeBucket, microsecondsToFill, shareOf, tokensLeft } from './bucket';

/** Limits the memory to some megabytes. */
const MOST_BUCKETS = 50_000;

/**
 * Token buckets of this instance alone, used while Redis is away. They start full and survive between outages. The
 * bucket charged longest ago is forgotten first.
 */
export class LocalBuckets {
  /**
   * When each bucket will be full, in microseconds. Holds half of all at most; then it becomes `older`, and `older` is
   * dropped.
   */
  private recent = new Map<string, number>();
  private older = new Map<string, number>();

  constructor(
    private readonly most = MOST_BUCKETS,
    /** Whole numbers: a fraction of a microsecond could cost a token. */
    private readonly microseconds = (): number => Math.floor(performance.now() * 1_000),
  ) {}

  /**
   * Charges one request to this instance's share of the bucket. The response shows the full limit and the remaining
   * tokens of the share.
   */
  charge(key: string, size: BucketSize, instances = 1): Charge {
    const { fullAt, charge } = chargeBucket(this.fullAt(key), this.microseconds(), shareOf(size, instances));
    if (!this.recent.has(key) && this.recent.size >= this.most / 2) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, fullAt);
    return { ...charge, limit: size.burst, windowSeconds: Math.ceil(microsecondsToFill(size) / 1_000_000) };
  }

  /** Puts a token that was charged back. */
  giveBack(key: string, size: BucketSize, instances = 1): void {
    const fullAt = this.fullAt(key);
    if (fullAt !== null) this.recent.set(key, fullAt - shareOf(size, instances).interval);
  }

  /** Gives the whole tokens left of this instance's share of the bucket, and charges nothing. */
  tokensLeft(key: string, size: BucketSize, instances = 1): number {
    return tokensLeft(this.fullAt(key), this.microseconds(), shareOf(size, instances));
  }

  private fullAt(key: string): number | null {
    return this.recent.get(key) ?? this.older.get(key) ?? null;
  }
}
