import type { EntityManager } from 'typeorm';
import type { Credential } from '../domain/application';
import { ApplicationKeyRow } from './application-key.row';
import { ApplicationTrustRow } from './application-trust.row';
import type { ApplicationRow } from './application.row';

/** Secrets that are accepted now, the current one first. */
export function secretsOf(row: ApplicationRow): Credential[] {
  if (row.secret_digest === null) return [];
  const expiresAt = row.previous_secret_expires_at;
  const [createdAt, lastUsedAt] = [row.secret_created_at, row.secret_last_used_at];
  const current = { type: 'SECRET', id: 'current', createdAt, lastUsedAt, expiresAt: null } as const;
  if (expiresAt === null || expiresAt.getTime() <= Date.now()) return [current];
  const times = { createdAt: row.previous_secret_created_at, lastUsedAt: row.previous_secret_last_used_at };
  return [current, { type: 'SECRET', id: 'previous', ...times, expiresAt }];
}

/** Keys and trusts, each with its client id. */
export async function secretlessOf(
  manager: EntityManager,
  where: { readonly workspace_id?: string; readonly client_id?: string },
): Promise<(readonly [string, Credential])[]> {
  const keys = await manager.find(ApplicationKeyRow, { where, order: { created_at: 'ASC', kid: 'ASC' } });
  const trusts = await manager.find(ApplicationTrustRow, {
    where,
    order: { created_at: 'ASC', id: 'ASC' },
    select: { client_id: true, id: true, created_at: true, last_used_at: true },
  });
  return [
    ...keys.map((key) => [key.client_id, { type: 'KEY', id: key.kid, ...timesOf(key) }] as const),
    ...trusts.map((trust) => [trust.client_id, { type: 'TRUST', id: trust.id, ...timesOf(trust) }] as const),
  ];
}

export const secretlessOfOne = async (manager: EntityManager, clientId: string): Promise<Credential[]> =>
  (await secretlessOf(manager, { client_id: clientId })).map(([, credential]) => credential);

const timesOf = ({ created_at, last_used_at }: Pick<ApplicationKeyRow, 'created_at' | 'last_used_at'>) => ({
  createdAt: created_at,
  lastUsedAt: last_used_at,
  expiresAt: null,
});
