import type { Charge, Freshness, RateClass } from '#libs/kernel';
import type { Grant } from './grant';

/** What the cache says about a token's generation. */
export type CachedGrant =
  /** The grant as it is; `charge` is null where a disabled application was not charged. */
  | { readonly kind: 'current'; readonly grant: Grant; readonly charge: Charge | null; readonly freshness: Freshness }
  | { readonly kind: 'superseded' }
  /** Postgres must be asked, and the grant may then be cached under this reservation. */
  | { readonly kind: 'missing'; readonly reservation: string; readonly freshness: Freshness }
  /** There is no cache now. */
  | { readonly kind: 'away'; readonly freshness: Freshness };

/**
 * Cached grants, which spare every instance the question to Postgres on every request, together with the buckets of the same
 * clients and the time of their last write. A grant is cached for two seconds at most, counted from before Postgres was
 * asked. `freshness` is what a client must see at least to see its own writes.
 */
export abstract class GrantCache {
  /** Charges the request in the same step if its token is of the cached generation. No other token is charged. */
  abstract checkAndCharge(clientId: string, generation: bigint, rateClass: RateClass): Promise<CachedGrant>;

  /** Caches what Postgres said, unless the grant was invalidated in the meantime. Never rejects. */
  abstract store(grant: Grant, reservation: string): Promise<void>;

  /** After a change was committed: resolves once no instance acts on what was true before it. */
  abstract invalidate(clientId: string): Promise<void>;
}
