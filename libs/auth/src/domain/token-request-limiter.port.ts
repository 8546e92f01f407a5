import type { Charge } from '#libs/kernel';
import type { Grant } from './grant';

/** A client as it was when it was charged with the same secret before, and what it was charged now. */
export interface RememberedClient {
  readonly grant: Grant;
  readonly charge: Charge;
  /** When all of the charge has come back by itself, in microseconds of the limiter's clock: from then on none is given back. */
  readonly backAt: number;
}

/** Buckets of the token endpoint, and whose secrets were right there. */
export abstract class TokenRequestLimiter {
  /**
   * A request with the secret that was right the last time, to its client's bucket. Null, and then nothing is charged, for
   * any other. What is remembered may have changed since.
   */
  abstract chargeRemembered(clientId: string, secretDigest: Buffer): Promise<RememberedClient | null>;

  /**
   * A request with a right secret, to its client's bucket. What it was charged before, while the client was only remembered,
   * stands; under another limit than the true one it is given back. From now on the client is remembered as this.
   */
  abstract chargeClient(grant: Grant, secretDigest: Buffer, remembered: RememberedClient | null): Promise<Charge>;

  /** Gives back what it was charged as a remembered client where it turned out to be none, or nobody could tell. */
  abstract giveBack(remembered: RememberedClient): Promise<void>;

  /** Forgets what is remembered of a client that changed; where that cannot be, it is found out by the truth. */
  abstract forget(clientId: string): Promise<void>;

  /**
   * A request with a wrong one: to a bucket of the source, and to one of this client id from this source. So nobody can use
   * up what another has. Gives the charge that leaves less.
   */
  abstract chargeFailure(clientId: string, source: string): Promise<Charge>;
}
