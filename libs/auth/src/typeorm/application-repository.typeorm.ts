import { Injectable } from '@nestjs/common';
import { type RateLimits, type WorkspaceId, formatRateLimit } from '#libs/kernel';
import { Database, READ_PATIENCE_MS, type Statement, bind } from '#libs/platform/database';
import type { Application, ApplicationInWorkspace } from '../domain/application';
import type { Grant } from '../domain/grant';
import { ApplicationRepository, type NewApplication } from '../domain/application-repository.port';
import {
  APPLICATION_COLUMNS,
  GRANT_COLUMNS,
  SECRET_COLUMNS,
  WORKSPACE_COLUMNS,
  toApplication,
  toGrant,
  toSecretDigests,
  toWorkspace,
} from './application-columns';

const CREATE: Statement = {
  name: 'application_create_2',
  text: `INSERT INTO application (workspace_id, client_id, name, secret_digest, scopes)
         VALUES ($1, $2, $3, decode($4, 'hex'), ARRAY(SELECT json_array_elements_text($5::json)))
         RETURNING ${APPLICATION_COLUMNS}`,
};
const LIST: Statement = {
  name: 'application_list_2',
  text: `SELECT ${APPLICATION_COLUMNS} FROM application WHERE workspace_id = $1 ORDER BY created_at, id`,
};
const FIND: Statement = {
  name: 'application_find_2',
  text: `SELECT ${APPLICATION_COLUMNS} FROM application WHERE client_id = $1`,
};
const FIND_WORKSPACE: Statement = {
  name: 'workspace_of_application',
  text: `SELECT ${WORKSPACE_COLUMNS} FROM workspace WHERE id = $1`,
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
const SET_DISABLED: Statement = {
  name: 'application_set_disabled_2',
  text: `UPDATE application SET disabled = $2 WHERE client_id = $1 RETURNING ${APPLICATION_COLUMNS}`,
};
const SET_SCOPES: Statement = {
  name: 'application_set_scopes_2',
  text: `UPDATE application SET scopes = ARRAY(SELECT json_array_elements_text($2::json)) WHERE client_id = $1
         RETURNING ${APPLICATION_COLUMNS}`,
};
const SET_LIMITS: Statement = {
  name: 'application_set_limits_2',
  text: `UPDATE application SET limits = limits || $2::jsonb WHERE client_id = $1 RETURNING ${APPLICATION_COLUMNS}`,
};
const CLEAR_LIMITS: Statement = {
  name: 'application_clear_limits_2',
  text: `UPDATE application SET limits = '{}' WHERE client_id = $1 RETURNING ${APPLICATION_COLUMNS}`,
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
/** With an overlap, in seconds, the active token stays; without one it ends with the secret. */
const ROTATE_SECRET: Statement = {
  name: 'application_rotate_secret_2',
  text: `UPDATE application
            SET secret_digest = decode($2, 'hex'),
                previous_secret_digest = CASE WHEN $3::float8 IS NULL THEN NULL ELSE secret_digest END,
                previous_secret_expires_at = now() + make_interval(secs => $3::float8),
                generation = CASE WHEN $3::float8 IS NULL THEN ${NEXT_GENERATION} ELSE generation END
          WHERE client_id = $1 RETURNING ${APPLICATION_COLUMNS}`,
};

@Injectable()
export class ApplicationRepositoryTypeorm extends ApplicationRepository {
  constructor(private readonly database: Database) {
    super();
  }

  async create(workspaceId: WorkspaceId, application: NewApplication): Promise<Application> {
    const { clientId, name, secretDigest, scopes } = application;
    const values = [workspaceId, clientId, name, secretDigest.toString('hex'), JSON.stringify(scopes)];
    const [rows] = await this.database.run({ workspaceId }, [bind(CREATE, values)]);
    return toApplication(rows?.[0] ?? []);
  }

  async list(workspaceId: WorkspaceId): Promise<Application[]> {
    const [rows] = await this.database.run({ workspaceId }, [bind(LIST, [workspaceId])]);
    return (rows ?? []).map(toApplication);
  }

  async findByClientId(clientId: string): Promise<Application | null> {
    const [rows] = await this.database.read({ clientId }, [bind(FIND, [clientId])], 'newest');
    return rows?.[0] ? toApplication(rows[0]) : null;
  }

  async findWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace | null> {
    const find = [bind(FIND, [clientId]), bind(FIND_WORKSPACE, [workspaceId])];
    const [[application] = [], [workspace] = []] = await this.database.read({ workspaceId }, find, 'newest');
    if (!application || !workspace) return null;
    return { application: toApplication(application), workspace: toWorkspace(workspace) };
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
    return this.change(clientId, SET_DISABLED, String(disabled));
  }

  async setScopes(clientId: string, scopes: readonly string[]): Promise<Application | null> {
    return this.change(clientId, SET_SCOPES, JSON.stringify(scopes));
  }

  async setLimits(clientId: string, limits: Partial<RateLimits>): Promise<Application | null> {
    return this.change(clientId, SET_LIMITS, fromLimits(limits));
  }

  async clearLimits(clientId: string): Promise<Application | null> {
    return this.change(clientId, CLEAR_LIMITS);
  }

  async rotateSecret(
    clientId: string,
    secretDigest: Buffer,
    overlapSeconds: number | null,
  ): Promise<Application | null> {
    const overlap = overlapSeconds === null ? null : String(overlapSeconds);
    return this.change(clientId, ROTATE_SECRET, secretDigest.toString('hex'), overlap);
  }

  async beginGeneration({ workspaceId, id }: Grant, secretDigest: Buffer, tokenId: string): Promise<bigint | null> {
    const begin = bind(BEGIN_GENERATION, [workspaceId, id, secretDigest.toString('hex'), tokenId]);
    const [rows] = await this.database.run({ workspaceId }, [begin], { patienceMs: READ_PATIENCE_MS });
    const generation = rows?.[0]?.[0];
    return generation ? BigInt(generation) : null;
  }

  private async change(
    clientId: string,
    statement: Statement,
    ...further: readonly (string | null)[]
  ): Promise<Application | null> {
    const [rows] = await this.database.run({ clientId }, [bind(statement, [clientId, ...further])]);
    return rows?.[0] ? toApplication(rows[0]) : null;
  }
}

/** Stored in the form that people write: `{"read": "500/1000"}`. */
function fromLimits(limits: Partial<RateLimits>): string {
  const written = Object.entries(limits).map(([rateClass, limit]) => [rateClass, formatRateLimit(limit)]);
  return JSON.stringify(Object.fromEntries(written));
}
