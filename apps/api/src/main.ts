import { leaveSignalsToGracefulStop } from '../../stop-before-serving';
import 'reflect-metadata';
import {
  MANAGEMENT_IN_FLIGHT_MS,
  ReadinessWatch,
  ServedConnections,
  createManagementServer,
  listen,
  onStopSignal,
  reasonOfFailedStart,
} from '#libs/platform/process';
import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { DatabaseProbe, assertRuntimeRole, missingSessionSettings } from '#libs/platform/database';
import { PublicKeys } from '#libs/platform/keys';
import { LogOutput, Metrics, createLog, logCrash, startTracing } from '#libs/platform/observability';
import { RedisClient } from '#libs/platform/redis';
import { Streams } from '#libs/platform/streams';
import { loadSettings } from '#libs/platform/config';
import { DataSource } from 'typeorm';
import { createApp } from './create-app';
import { schema } from '../../features';

async function main(): Promise<void> {
  const settings = loadSettings(process.env);
  const output = LogOutput.ofProcess();
  const log = createLog({ level: settings.logLevel, format: settings.logFormat }, output);
  logCrash(log);
  process.once('exit', () => output.flushSync());
  const logger = new Logger('Management');
  const tracing = settings.tracesEndpoint && startTracing(settings.tracesEndpoint, (warning) => log.warn(warning));
  let stopping = false;
  const app = await createApp(settings, { log, isStopping: () => stopping });
  const dataSource = app.get(DataSource);
  const redis = app.get(RedisClient);
  if (!redis.isConfigured) {
    const { replicas } = settings;
    if (replicas > 1) log.warn({ replicas }, 'REDIS_URL is not set, but several instances need it');
    else log.info('REDIS_URL is not set: run no more than one instance');
  }
  await assertRuntimeRole(dataSource, settings.production, (warning) => log.warn(warning));
  const missing = await missingSessionSettings(dataSource);
  if (missing.length > 0) log.warn({ missing }, 'settings do not reach Postgres: see docs/scaling.md, PgBouncer');

  // The public port opens before readiness is served. The management port closes last.
  const server = app.getHttpServer() as Server;
  const connections = new ServedConnections(server);
  let managementConnections: ServedConnections | null = null;
  const probe = new DatabaseProbe(settings.databaseUrl);
  const readiness = new ReadinessWatch({
    appliedMigrations: () => probe.appliedMigrations(),
    schema,
    redis,
    isStopping: () => stopping,
    onChange: ({ ready, checks }, error) =>
      ready
        ? logger.warn({ message: 'ready again', checks })
        : logger.warn({ message: 'not ready', checks, ...(error === undefined ? {} : { error }) }),
  });
  await listen(server, 'PORT', settings.port, settings.host);
  if (settings.managementPort !== null) {
    const metrics = app.get(Metrics);
    metrics.watchProcess();
    metrics.gauge(
      { name: 'compliance_ready', help: '1 when the last /readyz said ready, 0 when not.' },
      () => readiness.lastResult,
    );
    metrics.counts({ name: 'compliance_log_lines_dropped_total', help: 'Log lines that could not be written.' }, () => [
      { labels: {}, value: output.dropped },
    ]);
    const management = createManagementServer({
      readiness: () => readiness.check(),
      jwks: () => app.get(PublicKeys).jwks,
      metrics,
      baseUrl: settings.baseUrl,
      onError: (requestId, error) => logger.error({ message: 'request failed', requestId, error }),
    });
    managementConnections = new ServedConnections(management);
    await listen(management, 'MANAGEMENT_PORT', settings.managementPort, settings.managementHost);
  }
  log.info({ baseUrl: settings.baseUrl, managementPort: settings.managementPort }, 'serving');
  leaveSignalsToGracefulStop();
  onStopSignal(
    () => {
      stopping = true;
      connections.announceClose();
      managementConnections?.announceClose();
      log.info('stopping');
    },
    async () => {
      app.get(Streams).stop();
      await connections.drain();
      await managementConnections?.drain(MANAGEMENT_IN_FLIGHT_MS);
      await Promise.all([app.close(), probe.close()]);
      if (tracing) await tracing.stop();
    },
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${reasonOfFailedStart(error)}\n`);
  process.exit(1);
});
