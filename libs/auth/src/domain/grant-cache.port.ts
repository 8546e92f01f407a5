import type { Charge, Freshness, RateClass } from '#libs/kernel';
import type { Grant } from './application';

/** The cache's verdict on a token's generation. */
export type CachedGrant =
  /** The current grant. `charge` is null when a disabled application was not charged. */
  | { readonly kind: 'current'; readonly grant: Grant; readonly charge: Charge | null; readonly freshness: Freshness }
  | { readonly kind: 'superseded' }
  /** Postgres must be asked. The grant may then be cached under this reservation. */
  | { readonly kind: 'missing'; readonly reservation: string; readonly freshness: Freshness }
  /** The cache is unavailable. */
  | { readonly kind: 'away'; readonly freshness: Freshness };

/**
 * Cached grants, which save every request a query to Postgres. Kept together with the buckets of the same clients and
 * the time of their last write. A grant is cached for two seconds at most, counted from before the query. `freshness`
 * tells how new data must be so that the client sees its own writes.
 */
export abstract class GrantCache {
  /** Charges the request in the same step when its token is of the cached generation. Charges no other token. */
  abstract checkAndCharge(clientId: string, generation: bigint, rateClass: RateClass): Promise<CachedGrant>;

  /** Caches a grant read from Postgres, unless it was invalidated meanwhile. Never rejects. */
  abstract store(grant: Grant, reservation: string): Promise<void>;

  /** Call it after a change was committed. Resolves once every instance applies the change. */
  abstract invalidate(clientId: string): Promise<void>;

  /** For a while reads of the client see everything that is committed by now, as after a write. Never rejects. */
  abstract readNewest(clientId: string): Promise<void>;
}
