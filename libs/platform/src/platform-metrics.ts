import type { Database } from './database/database';
import { SERVICE_VERSION } from './config/service-version';
import type { Idempotency } from './idempotency/idempotency';
import type { RedisClient } from './redis/redis-client';
import type { Metrics } from './observability/metrics';

/** Registers metrics of Postgres and Redis, read at each scrape. */
export function watchPlatform(
  metrics: Metrics,
  watched: { database: Database; redis: RedisClient; idempotency: Idempotency; replicas: number },
): void {
  const { database, redis, idempotency, replicas } = watched;
  metrics.gauges(
    {
      name: 'compliance_build_info',
      help: 'Always 1; the labels name the version of the service and Node.',
      labels: ['version', 'node'],
    },
    () => [{ labels: { version: SERVICE_VERSION, node: process.versions.node }, value: 1 }],
  );
  metrics.gauge({ name: 'compliance_replicas', help: 'Number of instances by the setting REPLICAS.' }, () => replicas);
  watchDatabase(metrics, database);
  metrics.states(
    { name: 'compliance_redis_state', help: '1 for the current state of Redis.' },
    'state',
    ['not_configured', 'ok', 'away'],
    () => (redis.state === 'not configured' ? 'not_configured' : redis.state),
  );
  metrics.tally(
    {
      name: 'compliance_redis_circuit_transitions_total',
      help: 'How often the circuit breaker of Redis opened and closed.',
    },
    'to',
    redis.transitions,
  );
  metrics.states(
    {
      name: 'compliance_rate_limit_mode',
      help: '1 for the current place of the buckets: redis (shared by all instances) or local (this instance).',
    },
    'mode',
    ['redis', 'local'],
    () => (redis.state === 'ok' ? 'redis' : 'local'),
  );
  metrics.tally(
    { name: 'compliance_idempotency_outcomes_total', help: 'Writes with an Idempotency-Key, by outcome.' },
    'outcome',
    idempotency.outcomes,
  );
}

/** Watches the primary and each standby. Standbys are named by their place in DATABASE_REPLICA_URLS. */
function watchDatabase(metrics: Metrics, database: Database): void {
  const standbys = () => database.standbyUses.map((use, place) => ({ pool: `replica_${place + 1}`, use }));
  const pools = () => [{ pool: 'primary', use: database.poolUse }, ...standbys()];
  const labels = ['pool'] as const;
  metrics.gauges({ name: 'compliance_database_pool_size', help: 'Maximum connections of the pool.', labels }, () =>
    pools().map(({ pool, use }) => ({ labels: { pool }, value: use.size })),
  );
  metrics.gauges(
    {
      name: 'compliance_database_pool_connections',
      help: 'Open connections of the pool, by state.',
      labels: ['pool', 'state'],
    },
    () =>
      pools().flatMap(({ pool, use: { inUse, idle } }) => [
        { labels: { pool, state: 'in_use' }, value: inUse },
        { labels: { pool, state: 'idle' }, value: idle },
      ]),
  );
  metrics.gauges(
    { name: 'compliance_database_pool_waiting', help: 'Requests that wait for a connection of the pool.', labels },
    () => pools().map(({ pool, use }) => ({ labels: { pool }, value: use.waiting })),
  );
  metrics.counts(
    {
      name: 'compliance_database_acquisition_timeouts_total',
      help: 'Connections not acquired in time: two seconds for the primary, half a second for a standby.',
      labels,
    },
    () => pools().map(({ pool, use }) => ({ labels: { pool }, value: use.timeouts })),
  );
  metrics.gauges(
    { name: 'compliance_database_replica_used', help: '1 when reads go to the standby, 0 when not.', labels },
    () => standbys().map(({ pool, use }) => ({ labels: { pool }, value: use.isUsed ? 1 : 0 })),
  );
  metrics.gauges(
    {
      name: 'compliance_database_replica_lag_seconds',
      help: 'Age of what reads from the standby show, at most. Absent while it is not known.',
      labels,
    },
    () =>
      standbys().flatMap(({ pool, use: { lagMilliseconds } }) =>
        lagMilliseconds === null ? [] : [{ labels: { pool }, value: lagMilliseconds / 1_000 }],
      ),
  );
}
