import { leaveSignalsToGracefulStop } from '../../stop-before-serving';
import 'reflect-metadata';
import { reasonOfFailedStart, serve } from '#libs/platform/process';
import { assertRuntimeRole, missingSessionSettings } from '#libs/platform/database';
import { PublicKeys } from '#libs/platform/keys';
import { logOfProcess, startTracing } from '#libs/platform/observability';
import { RedisClient } from '#libs/platform/redis';
import { Streams } from '#libs/platform/streams';
import { loadSettings } from '#libs/platform/config';
import { DataSource } from 'typeorm';
import { createApp } from './create-app';
import { schema } from '../../features';

async function main(): Promise<void> {
  const settings = loadSettings(process.env);
  const { output, log } = logOfProcess(settings.logLevel, settings.logFormat);
  const tracing = settings.tracesEndpoint && startTracing(settings.tracesEndpoint, (warning) => log.warn(warning));
  const stop = { begun: false };
  const app = await createApp(settings, { log, stop });
  const dataSource = app.get(DataSource);
  const redis = app.get(RedisClient);
  if (!redis.isConfigured) {
    const { replicas } = settings;
    if (replicas > 1) log.warn({ replicas }, 'REDIS_URL is not set, but several instances need it');
    else log.info('REDIS_URL is not set: run no more than one instance');
  }
  if (settings.production && !process.env['BASE_URL']) {
    log.warn(
      { baseUrl: settings.baseUrl },
      'BASE_URL is not set: instances refuse tokens of others, and links lead nowhere',
    );
  }
  await assertRuntimeRole(dataSource, settings.production, (warning) => log.warn(warning));
  const missing = await missingSessionSettings(dataSource);
  if (missing.length > 0) log.warn({ missing }, 'settings do not reach Postgres: see docs/scaling.md, PgBouncer');

  await serve(app, {
    ...{ log, output, schema, stop, url: settings.baseUrl, baseUrl: settings.baseUrl },
    databaseUrl: settings.databaseUrl,
    listener: { setting: 'PORT', port: settings.port, host: settings.host },
    management: { setting: 'MANAGEMENT_PORT', port: settings.managementPort, host: settings.managementHost },
    jwks: () => app.get(PublicKeys).jwks,
    endStreams: () => app.get(Streams).stop(),
    ...(tracing ? { afterClose: () => tracing.stop() } : {}),
  });
  leaveSignalsToGracefulStop();
}

main().catch((error: unknown) => {
  process.stderr.write(`${reasonOfFailedStart(error)}\n`);
  process.exit(1);
});
