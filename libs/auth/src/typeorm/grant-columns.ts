import { type TextRow } from '#libs/platform/database';
import { RATE_CLASSES, type RateLimits, applicationId, parseRateLimit, workspaceId } from '#libs/kernel';
import type { Grant } from '../domain/application';

/** In the order in which {@link toGrant} reads them. */
export const GRANT_COLUMNS = [
  'workspace_id',
  'id',
  'client_id',
  'array_to_json(scopes)',
  'limits',
  'disabled',
  'generation',
].join(', ');
export const AFTER_GRANT = 7;

/** The accepted digests, read after the grant. Uses Postgres' clock, like the statement that starts a generation. */
export const SECRET_COLUMNS = `encode(secret_digest, 'hex'),
  CASE WHEN previous_secret_expires_at > now() THEN encode(previous_secret_digest, 'hex') END`;

/** A time of Postgres as a generation, in microseconds. */
const asGeneration = (time: string): string => `(extract(epoch FROM ${time}) * 1000000)::bigint`;

/** The clock keeps generations rising even after the row was restored from an older backup. */
export const NEXT_GENERATION = `GREATEST(generation + 1, ${asGeneration('clock_timestamp()')})`;

/**
 * Columns by which a change of the application ends the live token and its stream. A token request raises the generation
 * alone, so the stream of the old token goes on.
 */
export const END_TOKEN = { generation: () => NEXT_GENERATION, ended_generation: () => 'generation' };

const usedByLiveToken = (table: string): string =>
  `EXISTS (SELECT FROM ${table} AS other WHERE other.client_id = application.client_id AND other.last_used_at = issued_at)`;

/** Whether the live token was issued for the old secret. Tokens of earlier releases tell no secret. */
const OF_OLD_SECRET = `previous_secret_digest IS NOT NULL AND secret_last_used_at IS DISTINCT FROM issued_at
  AND NOT ${usedByLiveToken('application_key')} AND NOT ${usedByLiveToken('application_trust')}`;

/** A request begins its generation within five seconds. */
const lastGenerationOf = (time: string): string => asGeneration(`${time} + interval '5 s'`);

/** Uses are recorded for secrets whose creation is. */
const NEVER_USED = 'previous_secret_created_at IS NOT NULL AND previous_secret_last_used_at IS NULL';

/**
 * The last generation of the old secret, at most. Where its use is unknown, or the clock was set back, the last one before
 * the live token.
 */
const LAST_OF_OLD_SECRET = `CASE
  WHEN previous_secret_digest IS NULL OR ${NEVER_USED} THEN 0
  WHEN generation > ${lastGenerationOf('issued_at')} THEN generation - 1
  ELSE LEAST(generation - 1, ${lastGenerationOf('previous_secret_last_used_at')}) END`;

/** The same where there is an old secret. A live token of the current secret, a key or a trust goes on. */
export const END_TOKEN_OF_OLD_SECRET = {
  generation: () => `CASE WHEN ${OF_OLD_SECRET} THEN ${NEXT_GENERATION} ELSE generation END`,
  ended_generation: () =>
    `CASE WHEN ${OF_OLD_SECRET} THEN generation ELSE GREATEST(ended_generation, ${LAST_OF_OLD_SECRET}) END`,
};

export function toGrant(row: TextRow): Grant {
  const [workspace, id, clientId, scopes, limits, disabled, generation] = row;
  return {
    workspaceId: workspaceId(text(workspace)),
    id: applicationId(text(id)),
    clientId: text(clientId),
    scopes: JSON.parse(text(scopes)) as string[],
    limits: toLimits(JSON.parse(text(limits)) as Record<string, string>),
    disabled: disabled === 't',
    generation: BigInt(text(generation)),
  };
}

/** Reads {@link SECRET_COLUMNS}. */
export const toSecretDigests = (columns: TextRow): Buffer[] =>
  columns.flatMap((digest) => (digest ? [Buffer.from(digest, 'hex')] : []));

/** Returns the limits that can be parsed. */
export function toLimits(limits: Readonly<Record<string, string>>): Partial<RateLimits> {
  const known = RATE_CLASSES.flatMap((rateClass) => {
    const limit = parseRateLimit(limits[rateClass] ?? '');
    return limit ? [[rateClass, limit] as const] : [];
  });
  return Object.fromEntries(known);
}

export function text(value: string | null | undefined): string {
  if (typeof value !== 'string') throw new Error('A column that is never null was null.');
  return value;
}
