import type { Charge, RateLimit } from '#libs/kernel';
import { chargeBucket } from './bucket';
import { microsecondsToFill, intervalOf, shareOf } from './rate-limit';

/** So many buckets are remembered at most: some megabytes. */
const MOST_BUCKETS = 50_000;

/** Microseconds. */
interface LocalBucket {
  fullAt: number;
  /** What was spent up to here has been told. */
  toldTo: number;
  /** How much of the whole limit's time a share's time is. */
  worth: number;
  /** What a bucket of the whole limit holds. */
  capacity: number;
}

/** Buckets of this process alone, for while there is no Redis. The one that was charged longest ago is forgotten first. */
export class LocalBuckets {
  private readonly buckets = new Map<string, LocalBucket>();

  constructor(
    private readonly most = MOST_BUCKETS,
    /** Whole ones: a fraction of a microsecond could cost a token. */
    private readonly microseconds = (): number => Math.floor(performance.now() * 1_000),
  ) {}

  /**
   * Takes a token of this process' share of the limit, where there are so many replicas. What clients are told of is the
   * limit that was promised, and the tokens that are left of the share: more of them nobody would find here.
   */
  charge(key: string, limit: RateLimit, replicas = 1): Charge {
    const share = shareOf(limit, replicas);
    const known = this.buckets.get(key);
    const { fullAt, charge } = chargeBucket(known?.fullAt ?? null, this.microseconds(), share);
    // Put in anew, so that the order of the map is that of the last charge.
    this.buckets.delete(key);
    const [worth, capacity] = [intervalOf(limit) / intervalOf(share), microsecondsToFill(limit)];
    this.buckets.set(key, Object.assign(known ?? { toldTo: 0 }, { fullAt, worth, capacity }));
    if (this.buckets.size > this.most) {
      const [oldest] = this.buckets.keys();
      if (oldest !== undefined) this.buckets.delete(oldest);
    }
    return { ...charge, limit: limit.burst, windowSeconds: Math.ceil(capacity / 1_000_000) };
  }

  /**
   * Tells what was spent of each bucket and has not come back, and what a bucket of the whole limit holds, as time of that
   * limit in microseconds, the latest charged first. What was told is not told again; ends when `tell` says that it was
   * not heard.
   */
  async tellSpent(tell: (key: string, microseconds: number, capacity: number) => Promise<boolean>): Promise<void> {
    for (const [key, bucket] of [...this.buckets].reverse()) {
      const { fullAt, toldTo, worth, capacity } = bucket;
      const spent = Math.floor((fullAt - Math.max(toldTo, this.microseconds())) * worth);
      if (spent <= 0) continue;
      bucket.toldTo = fullAt;
      if (await tell(key, spent, capacity)) continue;
      bucket.toldTo = toldTo;
      return;
    }
  }
}
