import type { Server } from 'node:http';
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Logger as Log } from 'pino';
import { DatabaseProbe, type SchemaPart } from '../database';
import { type LogOutput, Metrics } from '../observability';
import { RedisClient } from '../redis';
import { ServedConnections, onStopSignal } from './graceful-stop';
import { watchBackgroundWork } from './background-metrics';
import { listen } from './listen';
import { createManagementServer } from './management-server';
import { ReadinessWatch } from './readiness';

/** An address to listen on, and the setting of its port. */
interface Listener<Port> {
  readonly setting: string;
  readonly port: Port;
  readonly host: string;
}

export interface Served {
  readonly log: Log;
  readonly output: LogOutput;
  readonly listener: Listener<number>;
  /** Without a port there is none. */
  readonly management: Listener<number | null>;
  /** The public address. */
  readonly url: string;
  /** Address of the pages that explain problems. */
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly schema: readonly SchemaPart[];
  readonly jwks?: () => object;
  /** Whether a signal came. The API asks it too. */
  readonly stop: { begun: boolean };
  /** Ends what would never end by itself, before requests in flight are waited for. */
  readonly endStreams?: () => void;
  /** Runs last. */
  readonly afterClose?: () => Promise<void>;
}

/**
 * Serves an application until a signal stops it. The public port opens before readiness is served, and the management
 * port closes with the process.
 */
export async function serve(app: NestExpressApplication, served: Served): Promise<void> {
  const { log, output, listener, management, stop } = served;
  const logger = new Logger('Management');
  const server = app.getHttpServer() as Server;
  const connections = new ServedConnections(server);
  const probe = new DatabaseProbe(served.databaseUrl);
  const readiness = new ReadinessWatch({
    appliedMigrations: () => probe.appliedMigrations(),
    schema: served.schema,
    redis: app.get(RedisClient),
    isStopping: () => stop.begun,
    onChange: ({ ready, checks }, error) =>
      logger.warn({ message: ready ? 'ready again' : 'not ready', checks, ...(error === undefined ? {} : { error }) }),
  });
  await listen(server, listener.setting, listener.port, listener.host);
  if (management.port !== null) {
    const metrics = app.get(Metrics);
    metrics.watchProcess();
    watchBackgroundWork(metrics, app);
    metrics.gauge(
      { name: 'compliance_ready', help: '1 when the last /readyz said ready, 0 when not.' },
      () => readiness.lastResult,
    );
    metrics.counts({ name: 'compliance_log_lines_dropped_total', help: 'Log lines that could not be written.' }, () => [
      { labels: {}, value: output.dropped },
    ]);
    const managementServer = createManagementServer({
      readiness: () => readiness.check(),
      ...(served.jwks ? { jwks: served.jwks } : {}),
      metrics,
      baseUrl: served.baseUrl,
      onError: (requestId, error) => logger.error({ message: 'request failed', requestId, error }),
    });
    await listen(managementServer, management.setting, management.port, management.host);
  }
  log.info({ url: served.url, managementPort: management.port }, 'serving');
  onStopSignal(
    () => {
      stop.begun = true;
      connections.announceClose();
      log.info('stopping');
    },
    async () => {
      served.endStreams?.();
      await connections.drain();
      await Promise.all([app.close(), probe.close()]);
      await served.afterClose?.();
    },
  );
}
