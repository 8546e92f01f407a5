import { Injectable } from '@nestjs/common';
import type { RateLimits, Scope, WorkspaceId } from '#libs/kernel';
import type { Application, ApplicationInWorkspace } from '../domain/application';
import { ApplicationRepository } from '../domain/application-repository.port';
import { TokenInvalid } from '../domain/authentication-errors';
import { ClientSecrets } from '../domain/client-secrets.port';
import { GrantCache } from '../domain/grant-cache.port';

/** Manages applications for operators. */
@Injectable()
export class ApplicationsService {
  constructor(
    private readonly applications: ApplicationRepository,
    private readonly secrets: ClientSecrets,
    private readonly grants: GrantCache,
  ) {}

  /** Creates an application. Its secret is shown once and never again. */
  async create(
    workspaceId: WorkspaceId,
    name: string,
    scopes: readonly Scope[],
  ): Promise<{ readonly application: Application; readonly clientSecret: string }> {
    const { secret, digest } = this.secrets.newSecret();
    const application = await this.applications.create(workspaceId, {
      clientId: this.secrets.newClientId(),
      name,
      secretDigest: digest,
      scopes: [...new Set(scopes)],
    });
    return { application, clientSecret: secret };
  }

  async list(workspaceId: WorkspaceId): Promise<Application[]> {
    return this.applications.list(workspaceId);
  }

  /** Returns null for an unknown client id. */
  async find(clientId: string): Promise<Application | null> {
    return this.applications.findByClientId(clientId);
  }

  /** The application of the workspace, with the workspace. @throws `token_invalid` when there is none with this client id. */
  async getWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace> {
    const found = await this.applications.findWithWorkspace(workspaceId, clientId);
    if (!found) throw new TokenInvalid();
    return found;
  }

  /** Returns null for an unknown client id, like all methods below. Each change applies from the next request on. */
  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    return this.inForce(await this.applications.setDisabled(clientId, disabled));
  }

  async setScopes(clientId: string, scopes: readonly Scope[]): Promise<Application | null> {
    return this.inForce(await this.applications.setScopes(clientId, [...new Set(scopes)]));
  }

  /** Sets the limits of the named classes only. */
  async setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null> {
    return this.inForce(await this.applications.setLimits(clientId, limits));
  }

  async clearLimits(clientId: string): Promise<Application | null> {
    return this.inForce(await this.applications.clearLimits(clientId));
  }

  /** Creates a new secret, shown only once. Without an overlap the old secret and the active token end at once. */
  async rotateSecret(
    clientId: string,
    overlapSeconds: number | null,
  ): Promise<{ readonly application: Application; readonly clientSecret: string } | null> {
    const { secret, digest } = this.secrets.newSecret();
    const application = await this.inForce(await this.applications.rotateSecret(clientId, digest, overlapSeconds));
    return application && { application, clientSecret: secret };
  }

  /** Returns only once every instance applies the change. */
  private async inForce(application: Application | null): Promise<Application | null> {
    if (application) await this.grants.invalidate(application.clientId);
    return application;
  }
}
