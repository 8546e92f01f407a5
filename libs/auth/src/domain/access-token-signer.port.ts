import type { AccessTokenClaims } from './access-token';

/** A JSON Web Key Set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly PublicKey[];
}

export interface PublicKey {
  readonly kty: string;
  readonly kid: string;
  readonly use: string;
  readonly alg: string;
}

/** Signs and verifies tokens. The application decides whether a token is still active. */
export abstract class AccessTokenSigner {
  /** Returns a signed token in compact form. */
  abstract sign(claims: AccessTokenClaims): Promise<string>;

  /**
   * Returns the claims of a token that this service issued for this API.
   * @throws `TokenExpired` for an expired token, `TokenInvalid` for any other fault
   */
  abstract verify(token: string): Promise<AccessTokenClaims>;

  /** Returns the public keys of every token that is accepted now or soon (RFC 7517). */
  abstract keySet(): KeySet;
}
