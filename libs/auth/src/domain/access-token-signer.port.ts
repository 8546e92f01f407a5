import type { AccessTokenClaims } from './access-token';

/** Signs and verifies tokens. The application decides whether a token is still active. */
export abstract class AccessTokenSigner {
  /** Returns a signed token in compact form. */
  abstract sign(claims: AccessTokenClaims): Promise<string>;

  /**
   * Returns the claims of a token that this service issued for this API.
   * @throws `TokenExpired` for an expired token, `TokenInvalid` for any other fault
   */
  abstract verify(token: string): Promise<AccessTokenClaims>;
}
