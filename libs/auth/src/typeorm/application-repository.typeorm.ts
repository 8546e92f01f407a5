import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type AuditAct, AuditRecorder } from '#libs/audit/operators';
import { type RateLimits, type WorkspaceId, applicationId, formatRateLimit, workspaceId } from '#libs/kernel';
import { Database, READ_PATIENCE_MS, type Statement, bind } from '#libs/platform/database';
import type { Application, ApplicationInWorkspace } from '../domain/application';
import type { Grant } from '../domain/grant';
import { ApplicationRepository, type NewApplication } from '../domain/application-repository.port';
import type { EntityManager, ObjectLiteral, UpdateQueryBuilder } from 'typeorm';
import { ApplicationRow } from './application.row';
import { AFTER_GRANT, GRANT_COLUMNS, SECRET_COLUMNS, text, toGrant, toLimits, toSecretDigests } from './grant-columns';

const FIND_GRANT: Statement = {
  name: 'application_find_grant_1',
  text: `SELECT ${GRANT_COLUMNS} FROM application WHERE client_id = $1`,
};
const FIND_WITH_WORKSPACE: Statement = {
  name: 'application_find_with_workspace_1',
  text: `SELECT ${GRANT_COLUMNS}, name, (SELECT slug FROM workspace WHERE workspace.id = application.workspace_id)
           FROM application WHERE workspace_id = $1 AND client_id = $2`,
};
/** Returns a row even for an unknown client, with an empty client id, so that both cases take the same time. */
const FIND_WITH_SECRETS: Statement = {
  name: 'application_find_with_secrets_3',
  text: `SELECT ${GRANT_COLUMNS}, ${SECRET_COLUMNS}
           FROM (SELECT coalesce(workspace_id, nobody) AS workspace_id, coalesce(id, nobody) AS id,
                        coalesce(client_id, '') AS client_id, coalesce(scopes, '{all:read,all:write}') AS scopes,
                        coalesce(limits, '{}') AS limits, coalesce(disabled, true) AS disabled,
                        coalesce(generation, 0) AS generation, coalesce(secret_digest, sha256('')) AS secret_digest,
                        previous_secret_digest, previous_secret_expires_at
                   FROM (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS nobody) AS decoy
                   LEFT JOIN application ON client_id = $1) AS application`,
};
/** The clock in microseconds keeps generations rising even after the row was restored from an older backup. */
const NEXT_GENERATION = 'GREATEST(generation + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)';
/** Checks the secret again: it may have been rotated, or the application disabled, since the lookup. */
const BEGIN_GENERATION: Statement = {
  name: 'application_begin_generation_4',
  text: `UPDATE application SET generation = ${NEXT_GENERATION}, jti = $4::uuid, issued_at = now()
          WHERE workspace_id = $1 AND id = $2::uuid AND NOT disabled
            AND (secret_digest = decode($3, 'hex')
                 OR (previous_secret_digest = decode($3, 'hex') AND previous_secret_expires_at > now()))
          RETURNING generation`,
};
/** What the audit shows of an application. */
const AUDITED = ['scopes', 'limits', 'disabled'] as const;

type Changes = Parameters<UpdateQueryBuilder<ApplicationRow>['set']>[0];

/** The statements serve requests: one round trip each. Operators' commands use the entity manager. */
@Injectable()
export class ApplicationRepositoryTypeorm extends ApplicationRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
  ) {
    super();
  }

  async create(workspaceId: WorkspaceId, application: NewApplication): Promise<Application> {
    const { clientId, name, secretDigest, scopes } = application;
    const row = {
      workspace_id: workspaceId,
      client_id: clientId,
      name,
      secret_digest: secretDigest,
      scopes: [...scopes],
    };
    return this.database.inTenant({ workspaceId }, async (manager) => {
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
  }

  async list(workspaceId: WorkspaceId): Promise<Application[]> {
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.find(ApplicationRow, {
        where: { workspace_id: workspaceId },
        order: { created_at: 'ASC', id: 'ASC' },
      }),
    );
    return rows.map(toApplication);
  }

  async findByClientId(clientId: string): Promise<Application | null> {
    const row = await this.database.inTenant({ clientId }, (manager) =>
      manager.findOneBy(ApplicationRow, { client_id: clientId }),
    );
    return row && toApplication(row);
  }

  async findGrant(clientId: string): Promise<Grant | null> {
    const [rows] = await this.database.read({ clientId }, [bind(FIND_GRANT, [clientId])], 'newest');
    return rows?.[0] ? toGrant(rows[0]) : null;
  }

  async findWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace | null> {
    const find = bind(FIND_WITH_WORKSPACE, [workspaceId, clientId]);
    const [[row] = []] = await this.database.read({ workspaceId }, [find], 'newest');
    if (!row) return null;
    const [name, workspaceSlug] = row.slice(AFTER_GRANT);
    return { ...toGrant(row), name: text(name), workspaceSlug: text(workspaceSlug) };
  }

  async findWithSecrets(
    clientId: string,
  ): Promise<{ readonly grant: Grant; readonly secretDigests: readonly Buffer[] } | null> {
    const find = bind(FIND_WITH_SECRETS, [clientId]);
    const [rows] = await this.database.read({ clientId }, [find], 'newest');
    const row = rows?.[0] ?? [];
    const found = { grant: toGrant(row), secretDigests: toSecretDigests(row) };
    return clientId !== '' && found.grant.clientId === clientId ? found : null;
  }

  async setDisabled(clientId: string, disabled: boolean): Promise<Application | null> {
    return this.change(clientId, disabled ? 'application.disabled' : 'application.enabled', { disabled });
  }

  async setScopes(clientId: string, scopes: readonly string[]): Promise<Application | null> {
    return this.change(clientId, 'application.scopes_set', { scopes: [...scopes] });
  }

  async setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null> {
    const added = JSON.stringify(fromLimits(limits));
    const changes = { limits: () => 'limits || CAST(:added AS jsonb)' };
    return this.change(clientId, 'application.limits_set', changes, { added });
  }

  async clearLimits(clientId: string): Promise<Application | null> {
    return this.change(clientId, 'application.limits_set', { limits: {} });
  }

  /** With an overlap the active token stays; without one it ends with the secret. */
  async rotateSecret(
    clientId: string,
    secretDigest: Buffer,
    overlapSeconds: number | null,
  ): Promise<Application | null> {
    const previous =
      overlapSeconds === null
        ? { previous_secret_digest: null, previous_secret_expires_at: null, generation: () => NEXT_GENERATION }
        : {
            previous_secret_digest: () => 'secret_digest',
            previous_secret_expires_at: () => 'now() + make_interval(secs => :overlapSeconds)',
          };
    const changes = { secret_digest: secretDigest, ...previous };
    return this.change(clientId, 'application.secret_rotated', changes, { overlapSeconds });
  }

  async beginGeneration({ workspaceId, id }: Grant, secretDigest: Buffer, tokenId: string): Promise<bigint | null> {
    const begin = bind(BEGIN_GENERATION, [workspaceId, id, secretDigest.toString('hex'), tokenId]);
    const [rows] = await this.database.run({ workspaceId }, [begin], { patienceMs: READ_PATIENCE_MS });
    const generation = rows?.[0]?.[0];
    return generation ? BigInt(generation) : null;
  }

  /** Changes the application and records it. A change without effect leaves no event, except for a new secret. */
  private async change(
    clientId: string,
    action: string,
    changes: Changes,
    parameters: ObjectLiteral = {},
  ): Promise<Application | null> {
    return this.database.inTenant({ clientId }, async (manager) => {
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
