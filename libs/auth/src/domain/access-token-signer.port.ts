import type { AccessTokenClaims } from './access-token';

/** Makes and checks the tokens themselves; what they are worth now is the application's matter. */
export abstract class AccessTokenSigner {
  /** A signed token in compact form. */
  abstract sign(claims: AccessTokenClaims): Promise<string>;

  /**
   * The claims of a token that this service issued for this API.
   * Throws `TokenExpired` for one that is only too old, `TokenInvalid` for any other fault.
   */
  abstract verify(token: string): Promise<AccessTokenClaims>;
}
