import type { Charge, Freshness, RateClass } from '#libs/kernel';
import type { Grant } from './grant';

/** What a copy says of a token's generation. */
export type CopiedGrant =
  /** The grant as it is; what the request was charged, null where a disabled application was not. */
  | { readonly kind: 'current'; readonly grant: Grant; readonly charge: Charge | null; readonly freshness: Freshness }
  | { readonly kind: 'superseded' }
  /** The truth must be asked, and may then be kept under this reservation. */
  | { readonly kind: 'missing'; readonly reservation: string; readonly freshness: Freshness }
  /** There is nowhere to keep copies now. */
  | { readonly kind: 'away'; readonly freshness: Freshness };

/**
 * Copies of grants that spare every replica the question to the truth on every request, together with the buckets of the
 * same clients, and what they wrote last. A copy lives two seconds at most, counted from before the truth was asked.
 * `freshness` is what a client must see at least to see its own writes.
 */
export abstract class GrantCopies {
  /** Charges a request whose token is of the copy's generation, in the same step; no other is charged. */
  abstract check(clientId: string, generation: bigint, rateClass: RateClass): Promise<CopiedGrant>;

  /**
   * Keeps what the truth said, unless it was asked to forget in the meantime; charges the request when `rateClass` is
   * given. Null when nothing was charged.
   */
  abstract keep(grant: Grant, reservation: string, rateClass: RateClass | null): Promise<Charge | null>;

  /** After a change was committed: resolves once no replica acts on what was true before it. */
  abstract forget(clientId: string): Promise<void>;
}
