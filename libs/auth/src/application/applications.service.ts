import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import type { Application } from '../domain/application';
import { ApplicationRepository } from '../domain/application-repository.port';
import { ClientSecrets } from '../domain/client-secrets.port';
import type { Scope } from '../domain/scope';

/** Applications as operators see them. */
@Injectable()
export class ApplicationsService {
  constructor(
    private readonly applications: ApplicationRepository,
    private readonly secrets: ClientSecrets,
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

  /** Null for an unknown client id. Acts on the next request. */
  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    return this.applications.setDisabled(clientId, disabled);
  }
}
