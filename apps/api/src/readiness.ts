import type { RedisServer, SchemaPart } from '#libs/platform';
import type { DataSource } from 'typeorm';

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** Whether this process should be sent requests: Postgres answers and the schema is the one this release was built for. */
export async function checkReadiness(
  dataSource: DataSource,
  schema: readonly SchemaPart[],
  redis: RedisServer,
  stopping: boolean,
): Promise<Readiness> {
  const known = schema.flatMap((part) => part.migrations.map((migration) => migration.name));
  const checks: Record<string, string> = {};
  try {
    const applied = await dataSource.query<{ name: string }[]>('SELECT name FROM migration');
    const names = new Set(applied.map(({ name }) => name));
    const missing = known.filter((name) => !names.has(name));
    checks['postgres'] = 'ok';
    checks['migrations'] = missing.length === 0 ? 'ok' : `${missing.length} not applied; run admin migrate`;
  } catch (error) {
    // 42P01: the table of migrations itself is not there yet.
    const reachable = (error as { code?: unknown }).code === '42P01';
    checks['postgres'] = reachable ? 'ok' : 'unreachable';
    checks['migrations'] = reachable ? 'none applied; run admin migrate' : 'unknown';
  }
  await redis.ping();
  checks['redis'] = redis.state === 'away' ? 'away, and done without' : redis.state;
  checks['process'] = stopping ? 'stopping' : 'ok';
  const required = Object.entries(checks).filter(([name]) => name !== 'redis');
  return { ready: required.every(([, check]) => check === 'ok'), checks };
}
