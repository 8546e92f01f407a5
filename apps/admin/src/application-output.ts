import type { Application } from '#libs/auth/operators';
import { type RateLimit, formatRateLimit } from '#libs/kernel';

/** Named like the columns. Never includes a secret or its digest. */
export function applicationJson(application: Application) {
  const { clientId, id, workspaceId, name, scopes, disabled } = application;
  const { generation, issuedAt, createdAt, previousSecretExpiresAt, credentials } = application;
  // Generations count microseconds, which a number holds exactly for two more centuries.
  const numbers = { generation: Number(generation) };
  return {
    client_id: clientId,
    ...{ id, workspaceId, name, scopes, limits: limitsOf(application), disabled },
    ...numbers,
    ...{ issuedAt, createdAt, previousSecretExpiresAt, credentials },
  };
}

export function applicationCard(application: Application) {
  const { name, scopes, disabled, createdAt, issuedAt } = application;
  const [current, previous] = application.credentials.filter(({ type }) => type === 'SECRET');
  const limits = Object.entries(limitsOf(application)).map(([rateClass, limit]) => `${rateClass} ${limit}`);
  return {
    name,
    scopes,
    disabled,
    created: createdAt,
    'last token': issuedAt,
    'secret last used': current?.lastUsedAt,
    ...(limits.length > 0 ? { limits } : {}),
    ...(previous ? { 'old secret last used': previous.lastUsedAt, 'old secret until': previous.expiresAt } : {}),
  };
}

/** In the form of the option: sustained per minute / burst. */
function limitsOf({ limits }: Application): Record<string, string> {
  const own = Object.entries(limits) as [string, RateLimit][];
  return Object.fromEntries(own.map(([rateClass, limit]) => [rateClass, formatRateLimit(limit)]));
}
