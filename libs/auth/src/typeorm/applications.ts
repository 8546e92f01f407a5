import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import {
  type RateLimits,
  type Scope,
  type WorkspaceId,
  applicationId,
  formatRateLimit,
  workspaceId,
} from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { EntityManager, ObjectLiteral, UpdateQueryBuilder } from 'typeorm';
import type { Application } from '../domain/application';
import { ClientSecrets } from '../domain/client-secrets.port';
import { GrantCache } from '../domain/grant-cache.port';
import { ApplicationRow } from './application.row';
import { END_TOKEN, toLimits } from './grant-columns';

/** What the audit shows of an application. */
const AUDITED = ['scopes', 'limits', 'disabled'] as const;

type Changes = Parameters<UpdateQueryBuilder<ApplicationRow>['set']>[0];

interface WithSecret {
  readonly application: Application;
  readonly clientSecret: string;
}

/** The applications of all workspaces and their secrets. For operators only, never on behalf of a request. */
@Injectable()
export class Applications {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
    private readonly secrets: ClientSecrets,
    private readonly grants: GrantCache,
  ) {}

  /** Creates an application that may use the API at once. Its secret is shown once and never again. */
  async create(workspaceId: WorkspaceId, name: string, scopes: readonly Scope[]): Promise<WithSecret> {
    const { secret, digest } = this.secrets.newSecret();
    const row = {
      workspace_id: workspaceId,
      client_id: this.secrets.newClientId(),
      name,
      secret_digest: digest,
      scopes: [...new Set(scopes)],
    };
    const application = await this.database.inTenant({ workspaceId }, async (manager) => {
      const inserted = await manager
        .createQueryBuilder()
        .insert()
        .into(ApplicationRow)
        .values(row)
        .returning('*')
        .execute();
      const [created] = inserted.raw as [ApplicationRow];
      await this.record(manager, 'application.created', null, created);
      return toApplication(created);
    });
    return { application, clientSecret: secret };
  }

  /** Returns all applications of the workspace, oldest first. */
  async list(workspaceId: WorkspaceId): Promise<Application[]> {
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.find(ApplicationRow, {
        where: { workspace_id: workspaceId },
        order: { created_at: 'ASC', id: 'ASC' },
      }),
    );
    return rows.map(toApplication);
  }

  /** Returns null for an unknown client id. */
  async find(clientId: string): Promise<Application | null> {
    const row = await this.database.inTenant({ clientId }, (manager) =>
      manager.findOneBy(ApplicationRow, { client_id: clientId }),
    );
    return row && toApplication(row);
  }

  /** Returns null for an unknown client id, like all methods below. Each change applies from the next request on. */
  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    return this.change(clientId, disabled ? 'application.disabled' : 'application.enabled', { disabled });
  }

  async setScopes(clientId: string, scopes: readonly Scope[]): Promise<Application | null> {
    return this.change(clientId, 'application.scopes_set', { scopes: [...new Set(scopes)] });
  }

  /** Sets the limits of the named classes only. */
  async setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null> {
    const added = JSON.stringify(fromLimits(limits));
    const changes = { limits: () => 'limits || CAST(:added AS jsonb)' };
    return this.change(clientId, 'application.limits_set', changes, { added });
  }

  async clearLimits(clientId: string): Promise<Application | null> {
    return this.change(clientId, 'application.limits_set', { limits: {} });
  }

  /** Creates a new secret, shown only once. Without an overlap the old secret, the active token and its stream end. */
  async rotateSecret(clientId: string, overlapSeconds: number | null): Promise<WithSecret | null> {
    const { secret, digest } = this.secrets.newSecret();
    const previous =
      overlapSeconds === null
        ? { previous_secret_digest: null, previous_secret_expires_at: null, ...END_TOKEN }
        : {
            previous_secret_digest: () => 'secret_digest',
            previous_secret_expires_at: () => 'now() + make_interval(secs => :overlapSeconds)',
          };
    const changes = { secret_digest: digest, ...previous };
    const application = await this.change(clientId, 'application.secret_rotated', changes, { overlapSeconds });
    return application && { application, clientSecret: secret };
  }

  /**
   * Changes the application and records it. A change without effect leaves no event, except for a new secret. Returns only
   * once every instance applies the change.
   */
  private async change(
    clientId: string,
    action: string,
    changes: Changes,
    parameters: ObjectLiteral = {},
  ): Promise<Application | null> {
    const application = await this.database.inTenant({ clientId }, async (manager) => {
      const before = await manager.findOne(ApplicationRow, {
        where: { client_id: clientId },
        lock: { mode: 'pessimistic_write' },
      });
      if (!before) return null;
      const updated = await manager
        .createQueryBuilder()
        .update(ApplicationRow)
        .set(changes)
        .where({ client_id: clientId })
        .setParameters(parameters)
        .returning('*')
        .execute();
      const [after] = updated.raw as [ApplicationRow];
      await this.record(manager, action, before, after);
      return toApplication(after);
    });
    if (application) await this.grants.invalidate(clientId);
    return application;
  }

  private async record(
    manager: EntityManager,
    action: string,
    before: ApplicationRow | null,
    after: ApplicationRow,
  ): Promise<void> {
    const changed = AUDITED.filter((field) => !isDeepStrictEqual(before?.[field], after[field]));
    if (changed.length === 0 && action !== 'application.secret_rotated') return;
    const act: AuditAct = {
      action,
      actor: { type: 'OPERATOR' },
      target: { type: 'APPLICATION', id: after.client_id },
      changes: Object.fromEntries(changed.map((field) => [field, { old: before?.[field], new: after[field] }])),
    };
    await this.audit.record(workspaceId(after.workspace_id), act, (text, values) => manager.query(text, values));
  }
}

function toApplication(row: ApplicationRow): Application {
  return {
    workspaceId: workspaceId(row.workspace_id),
    id: applicationId(row.id),
    clientId: row.client_id,
    name: row.name,
    scopes: row.scopes,
    limits: toLimits(row.limits),
    disabled: row.disabled,
    generation: BigInt(row.generation),
    issuedAt: row.issued_at,
    createdAt: row.created_at,
    previousSecretExpiresAt: row.previous_secret_expires_at,
  };
}

function fromLimits(limits: Partial<RateLimits>): ApplicationRow['limits'] {
  return Object.fromEntries(Object.entries(limits).map(([rateClass, limit]) => [rateClass, formatRateLimit(limit)]));
}
