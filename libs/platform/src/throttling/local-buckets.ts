import type { Charge } from '#libs/kernel';
import { chargeBucket } from './bucket';
import { type BucketSize, microsecondsToFill, shareOf } from './rate-limit';

/** At most this many buckets are kept: some megabytes. */
const MOST_BUCKETS = 50_000;

/**
 * Token buckets of this instance alone, for while there is no Redis. They start full and live on between outages. The one
 * charged longest ago is forgotten first.
 */
export class LocalBuckets {
  /** When each bucket will be full, in microseconds. At most half of all; then it becomes `older`, and `older` is dropped. */
  private recent = new Map<string, number>();
  private older = new Map<string, number>();

  constructor(
    private readonly most = MOST_BUCKETS,
    /** Whole ones: a fraction of a microsecond could cost a token. */
    private readonly microseconds = (): number => Math.floor(performance.now() * 1_000),
  ) {}

  /**
   * Charges one request to this instance's share of the bucket. The response tells the limit that was promised, and the
   * tokens that are left of the share.
   */
  charge(key: string, size: BucketSize, instances = 1): Charge {
    const known = this.recent.get(key) ?? this.older.get(key) ?? null;
    const { fullAt, charge } = chargeBucket(known, this.microseconds(), shareOf(size, instances));
    if (!this.recent.has(key) && this.recent.size >= this.most / 2) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, fullAt);
    return { ...charge, limit: size.burst, windowSeconds: Math.ceil(microsecondsToFill(size) / 1_000_000) };
  }
}
