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

/** Applications and their secrets. The client id stands in for the workspace where that is not known yet. */
export abstract class ApplicationRepository {
  /** Adds an application that may use the API at once. */
  abstract create(workspaceId: WorkspaceId, application: NewApplication): Promise<Application>;

  /** All applications of the workspace, oldest first. */
  abstract list(workspaceId: WorkspaceId): Promise<Application[]>;

  /** The application as it stands now; null when no workspace has one with this client id. */
  abstract findByClientId(clientId: string): Promise<Application | null>;

  /** The application of the workspace as it stands now, with the workspace; null when there is none with this client id. */
  abstract findWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace | null>;

  /**
   * What the client may do, with the digests of the secrets that are accepted now: its own, and until the overlap ends the
   * one before. Null for an unknown client id, after as long as for a known one.
   */
  abstract findWithSecrets(
    clientId: string,
  ): Promise<{ readonly grant: Grant; readonly secretDigests: readonly Buffer[] } | null>;

  /** Lets the application use the API or not, from the next request on. Null for an unknown client id. */
  abstract setDisabled(clientId: string, disabled: boolean): Promise<Application | null>;

  /**
   * Begins the application's next generation and so ends every token before; `tokenId` is that of the new one. Gives the
   * generation; null, and then nothing changed, where the application is disabled or the secret is no longer its own.
   * Atomic: concurrent calls get generations of their own, and the highest is in force.
   */
  abstract beginGeneration(grant: Grant, secretDigest: Buffer, tokenId: string): Promise<bigint | null>;

  /** Gives the application these scopes and no others. Null for an unknown client id. */
  abstract setScopes(clientId: string, scopes: readonly string[]): Promise<Application | null>;

  /** Gives it limits of its own for the classes that are named; the others stay. Null for an unknown client id. */
  abstract setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null>;

  /** Takes all limits of its own away. Null for an unknown client id. */
  abstract clearLimits(clientId: string): Promise<Application | null>;

  /**
   * Puts a new secret in place. The one before is accepted for so many seconds more; without any it ends at once, and the
   * live token with it. Null for an unknown client id.
   */
  abstract rotateSecret(
    clientId: string,
    secretDigest: Buffer,
    overlapSeconds: number | null,
  ): Promise<Application | null>;
}
