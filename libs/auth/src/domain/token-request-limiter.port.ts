import type { Charge } from '#libs/kernel';
import type { Grant } from './grant';

/** Buckets of the token endpoint. */
export abstract class TokenRequestLimiter {
  /** A request with a right secret, to its client's bucket. */
  abstract chargeClient(grant: Grant): Promise<Charge>;

  /**
   * A request with a wrong one: to a bucket of the source, and to one of this client id from this source. So nobody can use
   * up what another has. Gives the charge that leaves less.
   */
  abstract chargeFailure(clientId: string, source: string): Promise<Charge>;
}
