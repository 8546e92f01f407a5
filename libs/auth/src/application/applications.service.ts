import { Injectable } from '@nestjs/common';
import type { RateLimits, WorkspaceId } from '#libs/kernel';
import type { Application, ApplicationInWorkspace } from '../domain/application';
import { ApplicationRepository } from '../domain/application-repository.port';
import { TokenInvalid } from '../domain/authentication-errors';
import { ClientSecrets } from '../domain/client-secrets.port';
import { GrantCache } from '../domain/grant-cache.port';
import type { Scope } from '../domain/scope';

/** Applications as operators see them. */
@Injectable()
export class ApplicationsService {
  constructor(
    private readonly applications: ApplicationRepository,
    private readonly secrets: ClientSecrets,
    private readonly grants: GrantCache,
  ) {}

  /** The new application and its secret, which is shown once and never again. */
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

  /** Null for an unknown client id. */
  async find(clientId: string): Promise<Application | null> {
    return this.applications.findByClientId(clientId);
  }

  /** The application of the workspace, with the workspace. @throws `token_invalid` when there is none with this client id. */
  async getWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace> {
    const found = await this.applications.findWithWorkspace(workspaceId, clientId);
    if (!found) throw new TokenInvalid();
    return found;
  }

  /** Null for an unknown client id, as with everything below; each acts on the next request. */
  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    return this.inForce(await this.applications.setDisabled(clientId, disabled));
  }

  async setScopes(clientId: string, scopes: readonly Scope[]): Promise<Application | null> {
    return this.inForce(await this.applications.setScopes(clientId, [...new Set(scopes)]));
  }

  /** Limits of classes that are not named stay as they are. */
  async setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null> {
    return this.inForce(await this.applications.setLimits(clientId, limits));
  }

  async clearLimits(clientId: string): Promise<Application | null> {
    return this.inForce(await this.applications.clearLimits(clientId));
  }

  /** A new secret, shown this once. Without an overlap the old one and the live token end at once. */
  async rotateSecret(
    clientId: string,
    overlapSeconds: number | null,
  ): Promise<{ readonly application: Application; readonly clientSecret: string } | null> {
    const { secret, digest } = this.secrets.newSecret();
    const application = await this.inForce(await this.applications.rotateSecret(clientId, digest, overlapSeconds));
    return application && { application, clientSecret: secret };
  }

  /** Not done before every replica acts on it. */
  private async inForce(application: Application | null): Promise<Application | null> {
    if (application) await this.grants.invalidate(application.clientId);
    return application;
  }
}
