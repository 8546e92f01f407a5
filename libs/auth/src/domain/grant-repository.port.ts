import type { WorkspaceId } from '#libs/kernel';
import type { ApplicationInWorkspace, Grant } from './application';
import type { ClientKey, StoredClientKey } from './client-assertion';
import type { Trust } from './trusted-issuer';

/** Stored facts for the check of a client's assertion. */
export interface GrantWithKeys {
  readonly grant: Grant;
  readonly keys: readonly StoredClientKey[];
  /** Whether assertions may name the address of the token endpoint as audience. */
  readonly oldAudience: boolean;
  /** Whether an assertion with this `jti` obtained a token before. */
  readonly isUsed: boolean;
  /** The time by the clock that decides when an assertion is over. */
  readonly now: Date;
}

/** The proof of a client: a secret, an assertion of its own key, or a token of an issuer that it trusts. */
export type Proven =
  | { readonly secretDigest: Buffer }
  | { readonly keyId: string; readonly jtiDigest: Buffer; readonly expiresAt: Date }
  | { readonly trust: Trust; readonly key: ClientKey };

/** The stored grants, for requests. The client id replaces the workspace id until the workspace is known. */
export abstract class GrantRepository {
  /** Returns what the application may do now, or null for an unknown client id. */
  abstract find(clientId: string): Promise<Grant | null>;

  /**
   * Returns what the application may do now, or null when tokens of this generation were ended otherwise than by a newer
   * token: the application is disabled or deleted, or an operator ended its live token.
   */
  abstract findUnlessEnded(clientId: string, generation: bigint): Promise<Grant | null>;

  /** The application of the workspace as it stands now, with the workspace; null when there is none with this client id. */
  abstract findWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace | null>;

  /**
   * Returns the client's grant with the digests of accepted secrets: the current one and, during an overlap, the
   * previous one. Returns null for an unknown client id, after the same time as for a known one.
   */
  abstract findWithSecrets(
    clientId: string,
  ): Promise<{ readonly grant: Grant; readonly secretDigests: readonly Buffer[] } | null>;

  /**
   * Starts the application's next generation, which ends all earlier tokens, and uses up an assertion. `tokenId` is the new
   * token's. Returns the generation. Returns null without a change when the application is disabled or the proof does not
   * hold any more. So it is when the secret was replaced, the key or trust was removed, or the trust lost the key. So it is
   * also when the assertion expired or was used, on any instance. Atomic: concurrent calls get different generations, and
   * the highest wins.
   */
  abstract beginGeneration(grant: Grant, proven: Proven, tokenId: string): Promise<bigint | null>;

  /** Returns the client's grant with its keys, or null for an unknown client id, after the same time as for a known one. */
  abstract findWithKeys(clientId: string, jtiDigest: Buffer): Promise<GrantWithKeys | null>;

  /**
   * Returns the client's grant with its trusts in an issuer, each with the keys of this algorithm and id, or of any id
   * where it is null. More than four of a set are never read. Keys whose last good fetch is too old are left out. Null as
   * above.
   */
  abstract findWithTrusts(
    clientId: string,
    issuer: string,
    kid: string | null,
    algorithm: string,
  ): Promise<{ readonly grant: Grant; readonly trusts: readonly Trust[] } | null>;
}
