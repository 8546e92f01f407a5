import type { AccessTokenClaims } from './access-token';

/** Signs and verifies tokens. The application decides whether a token is still active. */
export abstract class AccessTokenSigner {
  /** Returns a signed token in compact form, which is valid from now on. */
  abstract sign(
    claims: Omit<AccessTokenClaims, 'keyId' | 'issuedAt' | 'expiresAt'>,
  ): Promise<{ readonly token: string; readonly expiresInSeconds: number }>;

  /**
   * Returns the claims of a token that this service issued for this API.
   * @throws `TokenExpired` for an expired token, `TokenInvalid` for any other fault
   */
  abstract verify(token: string): Promise<AccessTokenClaims>;

  /** Whether tokens of this key are still accepted. */
  abstract isKeyAccepted(keyId: string): boolean;
}
