import { leaveSignalsToGracefulStop } from '../../stop-before-serving';
import 'reflect-metadata';
import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import { DatabaseProbe, assertRuntimeRole } from '#libs/platform/database';
import { LogOutput, Metrics, createLog, logCrash } from '#libs/platform/observability';
import {
  MANAGEMENT_IN_FLIGHT_MS,
  ReadinessWatch,
  ServedConnections,
  createManagementServer,
  listen,
  onStopSignal,
  reasonOfFailedStart,
} from '#libs/platform/process';
import { RedisClient } from '#libs/platform/redis';
import { DataSource } from 'typeorm';
import { schema } from '../../whole-schema';
import { loadConsoleSettings } from './console-settings';
import { createConsole } from './create-console';

async function main(): Promise<void> {
  const settings = await loadConsoleSettings(process.env);
  const output = LogOutput.ofProcess();
  const log = createLog({ level: settings.logLevel, format: settings.logFormat }, output);
  logCrash(log);
  process.once('exit', () => output.flushSync());
  const logger = new Logger('Management');
  let stopping = false;
  const app = await createConsole(settings, log);
  await assertRuntimeRole(app.get(DataSource), settings.production, (warning) => log.warn(warning));

  const { port, host, managementPort, managementHost, url } = settings.console;
  const server = app.getHttpServer() as Server;
  const connections = new ServedConnections(server);
  let managementConnections: ServedConnections | null = null;
  const probe = new DatabaseProbe(settings.databaseUrl);
  const readiness = new ReadinessWatch({
    appliedMigrations: () => probe.appliedMigrations(),
    schema,
    redis: app.get(RedisClient),
    isStopping: () => stopping,
    onChange: ({ ready, checks }, error) =>
      logger.warn({ message: ready ? 'ready again' : 'not ready', checks, ...(error === undefined ? {} : { error }) }),
  });
  await listen(server, 'CONSOLE_PORT', port, host);
  if (managementPort !== null) {
    const metrics = app.get(Metrics);
    metrics.watchProcess();
    const management = createManagementServer({
      readiness: () => readiness.check(),
      metrics,
      baseUrl: settings.baseUrl,
      onError: (requestId, error) => logger.error({ message: 'request failed', requestId, error }),
    });
    managementConnections = new ServedConnections(management);
    await listen(management, 'CONSOLE_MANAGEMENT_PORT', managementPort, managementHost);
  }
  log.info({ url, managementPort }, 'serving');
  leaveSignalsToGracefulStop();
  onStopSignal(
    () => {
      stopping = true;
      log.info('stopping');
    },
    async () => {
      await connections.drain();
      await managementConnections?.drain(MANAGEMENT_IN_FLIGHT_MS);
      await Promise.all([app.close(), probe.close()]);
    },
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${reasonOfFailedStart(error)}\n`);
  process.exit(1);
});
