import type { ApplicationId, WorkspaceId } from '#libs/kernel';

/** Claims of a token. Times are seconds since 1970. */
export interface AccessTokenClaims {
  readonly clientId: string;
  readonly applicationId: ApplicationId;
  readonly workspaceId: WorkspaceId;
  readonly scopes: readonly string[];
  readonly generation: bigint;
  readonly tokenId: string;
  /** Id of the key that signed it. */
  readonly keyId: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

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
