import type { ApplicationId, WorkspaceId } from '#libs/kernel';

/** Claims of a token (decisions, section 2). Times are seconds since 1970. */
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
