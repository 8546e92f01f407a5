import type { Charge } from '#libs/kernel';
import type { Grant } from './application';

/** The token endpoint's buckets. */
export abstract class TokenRequestLimiter {
  /** Charges a request with a correct secret to its client's bucket. */
  abstract chargeClient(grant: Grant): Promise<Charge>;

  /**
   * Charges a request with a wrong secret to the source's bucket and to a bucket of client id and source. So nobody can
   * exhaust the client's own bucket. Returns the refused charge, if any.
   */
  abstract chargeFailure(clientId: string, source: string): Promise<Charge>;
}
