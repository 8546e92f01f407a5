import type { Charge, RateLimit } from '#libs/kernel';
import { chargeBucket } from './bucket';
import { microsecondsToFill, intervalOf, shareOf } from './rate-limit';

/** So many buckets are remembered at most: some megabytes. */
const MOST_BUCKETS = 50_000;

interface LocalBucket {
  /** Of this process' share, in microseconds. */
  readonly fullAt: number;
  /** What was spent up to here Redis knows, or has been told. */
  readonly knownTo: number;
  /** So many charges Redis made too late, and none was made here yet instead. */
  readonly late: number;
  readonly limit: RateLimit;
  readonly replicas: number;
}

/** What Redis says of a bucket: microseconds' worth of the tokens that are left, and of those that are missing. */
export interface SharedBucket {
  readonly spare: number;
  readonly toFull: number;
}

/**
 * Buckets of this process alone, for while there is no Redis. They begin as Redis said last that they are, and full where
 * it said nothing. Those that were not heard of or charged for longest are forgotten first.
 */
export class LocalBuckets {
  /** At most half of all; when it is full it becomes `older`, and what was there until then is forgotten. */
  private recent = new Map<string, LocalBucket>();
  private older = new Map<string, LocalBucket>();

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
    const known = this.find(key);
    const now = this.microseconds();
    const { fullAt, charge } = chargeBucket(known?.fullAt ?? null, now, share);
    const { knownTo = 0, late = 0 } = known ?? {};
    this.remember(key, this.settled({ fullAt, knownTo, late, limit, replicas }, now));
    return { ...charge, limit: limit.burst, windowSeconds: Math.ceil(microsecondsToFill(limit) / 1_000_000) };
  }

  /**
   * Redis said this of a bucket just now. A share of it is as full as the whole is, and has a token when the whole has
   * one: whoever was told to wait for that finds it here too. What was spent here and not told yet counts on.
   */
  learn(key: string, limit: RateLimit, replicas: number, { spare, toFull }: SharedBucket): void {
    const now = this.microseconds();
    const known = this.find(key);
    if (known && known.fullAt > Math.max(known.knownTo, now)) return;
    const share = shareOf(limit, replicas);
    const [interval, capacity] = [intervalOf(share), microsecondsToFill(share)];
    const toNext = Math.max(0, intervalOf(limit) - spare);
    const asFull = Math.floor((toFull * capacity) / microsecondsToFill(limit));
    const fullAt = now + Math.min(asFull, capacity - interval + toNext);
    this.remember(key, { fullAt, knownTo: fullAt, late: 0, limit, replicas });
  }

  /** Redis made a charge after all that was given up, and that is made here instead: it is not told of that one. */
  chargedLate(key: string, limit: RateLimit, replicas: number): void {
    const { fullAt = 0, knownTo = 0, late = 0 } = this.find(key) ?? {};
    this.remember(key, this.settled({ fullAt, knownTo, late: late + 1, limit, replicas }, this.microseconds()));
  }

  /**
   * Tells what was spent of each bucket and has not come back, as time of the whole limit in microseconds, the latest
   * first. What was told is not told again, unless `tell` says that it was not heard.
   */
  async tellSpent(tell: (key: string, microseconds: number, limit: RateLimit) => Promise<boolean>): Promise<void> {
    for (const key of new Set([...this.older.keys(), ...this.recent.keys()].reverse())) {
      const bucket = this.find(key);
      if (!bucket) continue;
      const { fullAt, knownTo, limit, replicas } = bucket;
      const worth = intervalOf(limit) / intervalOf(shareOf(limit, replicas));
      const spent = Math.floor((fullAt - Math.max(knownTo, this.microseconds())) * worth);
      if (spent <= 0) continue;
      this.know(key, knownTo, fullAt);
      if (!(await tell(key, spent, limit))) this.know(key, fullAt, knownTo);
    }
  }

  /** Of what was spent here, one charge that Redis made late, if there is one, is not to be told. */
  private settled(bucket: LocalBucket, now: number): LocalBucket {
    const { fullAt, late, limit, replicas } = bucket;
    const knownTo = Math.max(bucket.knownTo, now);
    if (late === 0 || fullAt <= knownTo) return bucket;
    return { ...bucket, knownTo: Math.min(fullAt, knownTo + intervalOf(shareOf(limit, replicas))), late: late - 1 };
  }

  /** Unless it was learnt anew meanwhile. In its place, so that none is forgotten before it is told of. */
  private know(key: string, from: number, to: number): void {
    const buckets = this.recent.has(key) ? this.recent : this.older;
    const bucket = buckets.get(key);
    if (bucket?.knownTo === from) buckets.set(key, { ...bucket, knownTo: to });
  }

  private find(key: string): LocalBucket | undefined {
    return this.recent.get(key) ?? this.older.get(key);
  }

  private remember(key: string, bucket: LocalBucket): void {
    if (!this.recent.has(key) && this.recent.size >= this.most / 2) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(key, bucket);
  }
}
