import type { Charge, RateLimit } from '#libs/kernel';
import { chargeBucket } from './bucket';

/** So many buckets are remembered at most: some megabytes. */
const CAPACITY = 50_000;

/** Buckets of this process alone, for while there is no Redis. The one that was charged longest ago is forgotten first. */
export class LocalBuckets {
  private readonly fullAt = new Map<string, number>();

  constructor(
    private readonly capacity = CAPACITY,
    /** Whole ones: a fraction of a microsecond could cost a token. */
    private readonly microseconds = (): number => Math.floor(performance.now() * 1_000),
  ) {}

  charge(key: string, limit: RateLimit): Charge {
    const { fullAt, charge } = chargeBucket(this.fullAt.get(key) ?? null, this.microseconds(), limit);
    // Put in anew, so that the order of the map is that of the last charge.
    this.fullAt.delete(key);
    this.fullAt.set(key, fullAt);
    if (this.fullAt.size > this.capacity) {
      const [oldest] = this.fullAt.keys();
      if (oldest !== undefined) this.fullAt.delete(oldest);
    }
    return charge;
  }
}
