import type { Charge } from '#libs/kernel';
import type { Grant } from './grant';

/** Buckets of the token endpoint. */
export abstract class TokenRequestLimiter {
  /** Charges a request with a right secret to its client's bucket. */
  abstract chargeClient(grant: Grant): Promise<Charge>;

  /**
   * Charges a request with a wrong secret to a bucket of the source, and to one of this client id from this source, so that
   * nobody can use up the bucket of the client. Gives the charge that was refused, if any.
   */
  abstract chargeFailure(clientId: string, source: string): Promise<Charge>;
}
