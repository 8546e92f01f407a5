import type { Charge } from '#libs/kernel';
import type { Grant } from './application';

/** The token endpoint's buckets. */
export abstract class TokenRequestLimiter {
  /** Charges the bucket of a client that proved itself. */
  abstract chargeClient(grant: Grant): Promise<Charge>;

  /**
   * Charges a request with a wrong proof to the source's bucket and to a bucket of client id and source. So nobody can
   * exhaust the client's own bucket. Returns the charge of the first bucket that is empty, else that of the second.
   */
  abstract chargeFailure(clientId: string, source: string): Promise<Charge>;
}
