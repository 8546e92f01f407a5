import type { Freshness, RateClass } from '#libs/kernel';

/**
 * A client reads from the primary for this long after its write was accepted: ten seconds for the body to arrive, five
 * for the write, and ten to spare.
 */
export const NEWEST_AFTER_WRITE_MS = 25_000;

/** Remembers clients that wrote recently, for a single instance without Redis. */
export class RecentWrites {
  /** When each client may read from standbys again, oldest entry first. */
  private readonly newestUntil = new Map<string, number>();

  /** Also records a write. */
  freshnessOf(clientId: string, rateClass: RateClass): Freshness {
    const now = performance.now();
    if (rateClass === 'write') this.note(clientId);
    return (this.newestUntil.get(clientId) ?? -Infinity) >= now ? 'newest' : 'recent';
  }

  note(clientId: string): void {
    const now = performance.now();
    this.newestUntil.delete(clientId);
    this.newestUntil.set(clientId, now + NEWEST_AFTER_WRITE_MS);
    for (const [oldest, until] of this.newestUntil) {
      if (until >= now) break;
      this.newestUntil.delete(oldest);
    }
  }
}
