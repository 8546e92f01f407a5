import type { RateLimits, WorkspaceId } from '#libs/kernel';
import type { Application, ApplicationInWorkspace } from './application';
import type { Grant } from './grant';

/** A new application as it is stored. */
export interface NewApplication {
  readonly clientId: string;
  readonly name: string;
  readonly secretDigest: Buffer;
  readonly scopes: readonly string[];
}

/** Stores applications and their secrets. The client id replaces the workspace id until the workspace is known. */
export abstract class ApplicationRepository {
  /** Adds an application that may use the API at once. */
  abstract create(workspaceId: WorkspaceId, application: NewApplication): Promise<Application>;

  /** Returns all applications of the workspace, oldest first. */
  abstract list(workspaceId: WorkspaceId): Promise<Application[]>;

  /** Returns the current application, or null for an unknown client id. */
  abstract findByClientId(clientId: string): Promise<Application | null>;

  /** Returns what the application may do now, or null for an unknown client id. */
  abstract findGrant(clientId: string): Promise<Grant | null>;

  /** The application of the workspace as it stands now, with the workspace; null when there is none with this client id. */
  abstract findWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace | null>;

  /**
   * Returns the client's grant with the digests of accepted secrets: the current one and, during an overlap, the
   * previous one. Returns null for an unknown client id, after the same time as for a known one.
   */
  abstract findWithSecrets(
    clientId: string,
  ): Promise<{ readonly grant: Grant; readonly secretDigests: readonly Buffer[] } | null>;

  /** Enables or disables the application from the next request on. Returns null for an unknown client id. */
  abstract setDisabled(clientId: string, disabled: boolean): Promise<Application | null>;

  /**
   * Starts the application's next generation, which ends all earlier tokens. `tokenId` is the new token's. Returns the
   * generation. Returns null without a change when the application is disabled or the secret was replaced. Atomic:
   * concurrent calls get different generations, and the highest wins.
   */
  abstract beginGeneration(grant: Grant, secretDigest: Buffer, tokenId: string): Promise<bigint | null>;

  /** Replaces the application's scopes. Returns null for an unknown client id. */
  abstract setScopes(clientId: string, scopes: readonly string[]): Promise<Application | null>;

  /** Sets own limits for the named classes; the others stay. Returns null for an unknown client id. */
  abstract setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null>;

  /** Removes all own limits. Returns null for an unknown client id. */
  abstract clearLimits(clientId: string): Promise<Application | null>;

  /**
   * Replaces the secret. The previous one stays valid for the overlap, in seconds. Without an overlap it ends at once,
   * together with the active token. Returns null for an unknown client id.
   */
  abstract rotateSecret(
    clientId: string,
    secretDigest: Buffer,
    overlapSeconds: number | null,
  ): Promise<Application | null>;
}
