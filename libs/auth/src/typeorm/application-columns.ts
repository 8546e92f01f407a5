import { type TextRow } from '#libs/platform/database';
import { RATE_CLASSES, type RateLimits, applicationId, parseRateLimit, workspaceId } from '#libs/kernel';
import type { Application } from '../domain/application';
import type { Grant } from '../domain/grant';
import type { Workspace } from '../domain/workspace';

const milliseconds = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::bigint`;

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
const AFTER_GRANT = 7;

/** In the order in which {@link toApplication} reads them. */
export const APPLICATION_COLUMNS = [
  GRANT_COLUMNS,
  'name',
  milliseconds('issued_at'),
  milliseconds('created_at'),
  milliseconds('previous_secret_expires_at'),
].join(', ');

/** In the order that {@link toWorkspace} reads them. */
export const WORKSPACE_COLUMNS = ['id', 'slug', 'name', milliseconds('created_at')].join(', ');

/** The accepted digests, read after the grant. Uses Postgres' clock, like the statement that starts a generation. */
export const SECRET_COLUMNS = `encode(secret_digest, 'hex'),
  CASE WHEN previous_secret_expires_at > now() THEN encode(previous_secret_digest, 'hex') END`;

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

export function toApplication(row: TextRow): Application {
  const [name, issuedAt, createdAt, overlapEnd] = row.slice(AFTER_GRANT);
  return {
    ...toGrant(row),
    name: text(name),
    issuedAt: time(issuedAt),
    createdAt: new Date(Number(createdAt)),
    previousSecretExpiresAt: time(overlapEnd),
  };
}

export function toWorkspace([id, slug, name, createdAt]: TextRow): Workspace {
  return { id: workspaceId(text(id)), slug: text(slug), name: text(name), createdAt: new Date(Number(createdAt)) };
}

export const toSecretDigests = (row: TextRow): Buffer[] =>
  row.slice(AFTER_GRANT).flatMap((digest) => (digest ? [Buffer.from(digest, 'hex')] : []));

/** Returns the limits that can be parsed. */
function toLimits(limits: Readonly<Record<string, string>>): Partial<RateLimits> {
  const known = RATE_CLASSES.flatMap((rateClass) => {
    const limit = parseRateLimit(limits[rateClass] ?? '');
    return limit ? [[rateClass, limit] as const] : [];
  });
  return Object.fromEntries(known);
}

function text(value: string | null | undefined): string {
  if (typeof value !== 'string') throw new Error('A column that is never null was null.');
  return value;
}

function time(value: string | null | undefined): Date | null {
  return typeof value === 'string' ? new Date(Number(value)) : null;
}
