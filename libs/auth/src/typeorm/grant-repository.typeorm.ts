import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { type BoundStatement, Database, KeyQueue, READ_PATIENCE_MS, bind, prepared } from '#libs/platform/database';
import type { ApplicationInWorkspace, Grant } from '../domain/application';
import type { StoredClientKey } from '../domain/client-assertion';
import { GrantRepository, type GrantWithKeys, type Proven } from '../domain/grant-repository.port';
import type { Trust } from '../domain/trusted-issuer';
import {
  AFTER_GRANT,
  GRANT_COLUMNS,
  NEXT_GENERATION,
  SECRET_COLUMNS,
  text,
  toGrant,
  toSecretDigests,
} from './grant-columns';

const MANY_REQUESTS = 'Too many token requests wait. Send fewer.';

const FIND_GRANT = prepared('application_find_grant', `SELECT ${GRANT_COLUMNS} FROM application WHERE client_id = $1`);
const FIND_UNLESS_ENDED = prepared(
  'application_find_unless_ended',
  `SELECT ${GRANT_COLUMNS} FROM application
    WHERE client_id = $1 AND NOT disabled AND ended_generation < $2::bigint`,
);
const FIND_WITH_WORKSPACE = prepared(
  'application_find_with_workspace',
  `SELECT ${GRANT_COLUMNS}, name, (SELECT slug FROM workspace WHERE workspace.id = application.workspace_id)
           FROM application WHERE workspace_id = $1 AND client_id = $2`,
);
/** Has a row even for an unknown client, with an empty client id, so that both cases take the same time. */
const APPLICATION_OR_DECOY = `
           FROM (SELECT coalesce(workspace_id, nobody) AS workspace_id, coalesce(id, nobody) AS id,
                        coalesce(client_id, '') AS client_id, coalesce(scopes, '{all:read,all:write}') AS scopes,
                        coalesce(limits, '{}') AS limits, coalesce(disabled, true) AS disabled,
                        coalesce(generation, 0) AS generation, coalesce(secret_digest, sha256('')) AS secret_digest,
                        previous_secret_digest, previous_secret_expires_at, old_audience
                   FROM (SELECT '00000000-0000-0000-0000-000000000000'::uuid AS nobody) AS decoy
                   LEFT JOIN application ON client_id = $1) AS application`;
const FIND_WITH_SECRETS = prepared(
  'application_find_with_secrets',
  `SELECT ${GRANT_COLUMNS}, ${SECRET_COLUMNS} ${APPLICATION_OR_DECOY}`,
);
const FIND_WITH_KEYS = prepared(
  'application_find_with_keys',
  `SELECT ${GRANT_COLUMNS}, old_audience,
          EXISTS (SELECT FROM used_assertion
                   WHERE workspace_id = application.workspace_id AND client_id = $1 AND jti_digest = decode($2, 'hex') AND expires_at > now()),
          (SELECT coalesce(json_agg(json_build_object('id', id, 'kid', kid, 'algorithms', algorithms, 'jwk', jwk)), '[]')
             FROM application_key
            WHERE workspace_id = application.workspace_id AND client_id = $1),
          extract(epoch FROM now()) * 1000
          ${APPLICATION_OR_DECOY}`,
);
/** Checks the secret again: it may have been rotated, or the application disabled, since the lookup. */
const BEGIN_GENERATION = prepared(
  'application_begin_generation',
  `UPDATE application SET generation = ${NEXT_GENERATION}, jti = $3::uuid, issued_at = now(),
                secret_last_used_at = CASE WHEN secret_digest = decode($4, 'hex') THEN now() ELSE secret_last_used_at END,
                previous_secret_last_used_at =
                  CASE WHEN secret_digest = decode($4, 'hex') THEN previous_secret_last_used_at ELSE now() END
          WHERE workspace_id = $1 AND id = $2::uuid AND NOT disabled
            AND (secret_digest = decode($4, 'hex')
                 OR (previous_secret_digest = decode($4, 'hex') AND previous_secret_expires_at > now()))
          RETURNING generation`,
);

/** The application's row is locked first, as operators' commands lock it, so what was removed meanwhile is not found. */
const LOCKED = `locked AS (
     SELECT client_id FROM application WHERE workspace_id = $1 AND id = $2::uuid AND NOT disabled FOR UPDATE
   )`;
const BEGIN_WHERE_PROVEN = `
   UPDATE application SET generation = ${NEXT_GENERATION}, jti = $3::uuid, issued_at = now()
     FROM proven
    WHERE application.workspace_id = $1 AND application.id = $2::uuid
    RETURNING generation`;

/** A key is used where the assertion is new. One that expired is kept an hour: Postgres' clock may be set back. */
const BEGIN_GENERATION_BY_KEY = prepared(
  'application_begin_generation_by_key',
  `WITH ${LOCKED}, accepted AS (
     SELECT application_key.client_id FROM locked JOIN application_key USING (client_id)
      WHERE workspace_id = $1 AND id = $4::uuid AND $6::timestamptz > now()
        FOR NO KEY UPDATE OF application_key
   ), proven AS (
     INSERT INTO used_assertion (workspace_id, client_id, jti_digest, expires_at)
     SELECT $1, client_id, decode($5, 'hex'), $6::timestamptz FROM accepted
         ON CONFLICT (workspace_id, client_id, jti_digest) DO UPDATE SET expires_at = EXCLUDED.expires_at
      WHERE used_assertion.expires_at <= now()
      RETURNING client_id
   ), used AS (
     UPDATE application_key SET last_used_at = now() FROM proven WHERE workspace_id = $1 AND id = $4::uuid
   ), forgotten AS (
     DELETE FROM used_assertion
      WHERE workspace_id = $1 AND client_id = (SELECT client_id FROM proven) AND jti_digest <> decode($5, 'hex')
        AND expires_at < now() - interval '1 hour'
   ) ${BEGIN_WHERE_PROVEN}`,
);

/** A fetched set is used for 7 days after its last good fetch. One that an operator gave does not age. */
const IS_USABLE = `state = 'READY' AND (given OR keys_at > now() - interval '7 days')`;
/** A token is refused where more than three keys fit it (client-assertions.jwt.ts), so the fourth is the last to read. */
const FIND_WITH_TRUSTS = prepared(
  'application_find_with_trusts',
  `SELECT ${GRANT_COLUMNS},
          (SELECT coalesce(json_agg(json_build_object(
                    'id', id, 'subject', subject, 'audience', audience, 'insecure', insecure,
                    'keys', (SELECT coalesce(jsonb_agg(key), '[]')
                               FROM (SELECT key FROM jsonb_array_elements(keys) AS key
                                      WHERE key -> 'algorithms' ? $4 AND ($3 = '' OR key ->> 'kid' = $3)
                                      LIMIT 4) AS fitting))
                  ORDER BY created_at, id), '[]')
             FROM application_trust AS trust
            WHERE workspace_id = application.workspace_id AND client_id = $1 AND issuer = $2 AND ${IS_USABLE})
          ${APPLICATION_OR_DECOY}`,
);
/** Checks the trust again. */
const BEGIN_GENERATION_BY_TRUST = prepared(
  'application_begin_generation_by_trust',
  `WITH ${LOCKED}, proven AS (
     UPDATE application_trust AS trust SET last_used_at = now() FROM locked
      WHERE trust.client_id = locked.client_id AND workspace_id = $1 AND id = $4::uuid AND keys @> $5::jsonb AND ${IS_USABLE}
      RETURNING trust.client_id
   ) ${BEGIN_WHERE_PROVEN}`,
);

/** One round trip each. */
@Injectable()
export class GrantRepositoryTypeorm extends GrantRepository {
  private readonly turns = new KeyQueue<never>();

  constructor(private readonly database: Database) {
    super();
  }

  async find(clientId: string): Promise<Grant | null> {
    const [rows] = await this.database.read({ clientId }, [bind(FIND_GRANT, [clientId])]);
    return rows?.[0] ? toGrant(rows[0]) : null;
  }

  async findUnlessEnded(clientId: string, generation: bigint): Promise<Grant | null> {
    const find = bind(FIND_UNLESS_ENDED, [clientId, String(generation)]);
    const [rows] = await this.database.read({ clientId }, [find]);
    return rows?.[0] ? toGrant(rows[0]) : null;
  }

  async findWithWorkspace(workspaceId: WorkspaceId, clientId: string): Promise<ApplicationInWorkspace | null> {
    const find = bind(FIND_WITH_WORKSPACE, [workspaceId, clientId]);
    const [[row] = []] = await this.database.read({ workspaceId }, [find]);
    if (!row) return null;
    const [name, workspaceSlug] = row.slice(AFTER_GRANT);
    return { ...toGrant(row), name: text(name), workspaceSlug: text(workspaceSlug) };
  }

  async findWithSecrets(
    clientId: string,
  ): Promise<{ readonly grant: Grant; readonly secretDigests: readonly Buffer[] } | null> {
    const found = await this.findOrDecoy(clientId, bind(FIND_WITH_SECRETS, [clientId]));
    return found && { grant: found.grant, secretDigests: toSecretDigests(found.columns) };
  }

  async findWithKeys(clientId: string, jtiDigest: Buffer): Promise<GrantWithKeys | null> {
    const found = await this.findOrDecoy(clientId, bind(FIND_WITH_KEYS, [clientId, jtiDigest.toString('hex')]));
    if (!found) return null;
    const [oldAudience, isUsed, keys, now] = found.columns;
    return {
      grant: found.grant,
      keys: JSON.parse(text(keys)) as StoredClientKey[],
      oldAudience: oldAudience === 't',
      isUsed: isUsed === 't',
      now: new Date(Number(now)),
    };
  }

  async findWithTrusts(clientId: string, issuer: string, kid: string | null, algorithm: string) {
    const found = await this.findOrDecoy(clientId, bind(FIND_WITH_TRUSTS, [clientId, issuer, kid ?? '', algorithm]));
    return found && { grant: found.grant, trusts: JSON.parse(text(found.columns[0])) as Trust[] };
  }

  /** Returns a row of {@link APPLICATION_OR_DECOY}: the grant, and the columns after it. Null for an unknown client id. */
  private async findOrDecoy(clientId: string, find: BoundStatement) {
    const [[row = []] = []] = await this.database.read({ clientId }, [find]);
    const grant = toGrant(row);
    return clientId !== '' && grant.clientId === clientId ? { grant, columns: row.slice(AFTER_GRANT) } : null;
  }

  /** One at a time for each application: all lock its row, and each that waits there would keep a connection from others. */
  async beginGeneration({ workspaceId, id }: Grant, proven: Proven, tokenId: string): Promise<bigint | null> {
    const begin = beginBy(proven, [workspaceId, id, tokenId]);
    const deadline = performance.now() + READ_PATIENCE_MS;
    const [rows] = await this.turns.inTurn(id, READ_PATIENCE_MS, MANY_REQUESTS, () =>
      this.database.run({ workspaceId }, [begin], { patienceMs: deadline - performance.now() }),
    );
    const generation = rows?.[0]?.[0];
    return generation ? BigInt(generation) : null;
  }
}

function beginBy(proven: Proven, application: readonly string[]): BoundStatement {
  if ('secretDigest' in proven) return bind(BEGIN_GENERATION, [...application, proven.secretDigest.toString('hex')]);
  if ('keyId' in proven) {
    const { keyId, jtiDigest, expiresAt } = proven;
    const assertion = [keyId, jtiDigest.toString('hex'), expiresAt.toISOString()];
    return bind(BEGIN_GENERATION_BY_KEY, [...application, ...assertion]);
  }
  const { trust, key } = proven;
  return bind(BEGIN_GENERATION_BY_TRUST, [...application, trust.id, JSON.stringify([{ kid: key.kid, jwk: key.jwk }])]);
}
