import type { Freshness, RateClass } from '#libs/kernel';

/**
 * How long a client reads from the primary after its write was accepted: ten seconds in which its body may arrive, five
 * for the write itself, and ten more.
 */
export const NEWEST_AFTER_WRITE_MS = 25_000;

/** Which clients wrote lately, for the one instance that runs without Redis. */
export class RecentWrites {
  /** By client, oldest first, until when it reads from the primary. */
  private readonly newestUntil = new Map<string, number>();

  /** Notes a write. */
  freshnessOf(clientId: string, rateClass: RateClass): Freshness {
    const now = performance.now();
    if (rateClass === 'write') this.note(clientId, now);
    return (this.newestUntil.get(clientId) ?? -Infinity) >= now ? 'newest' : 'recent';
  }

  private note(clientId: string, now: number): void {
    this.newestUntil.delete(clientId);
    this.newestUntil.set(clientId, now + NEWEST_AFTER_WRITE_MS);
    for (const [oldest, until] of this.newestUntil) {
      if (until >= now) break;
      this.newestUntil.delete(oldest);
    }
  }
}
