import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { type Settings, loadSettings } from '#libs/platform/config';
import { createApp } from '../../apps/api/src/create-app';
import { oracle } from '../contract/contract-oracle';
import { ApiClient } from './api-client';
import { Arrangement } from './arrangement';
import { type TestDatabase, createTestDatabase } from './test-database';

export interface TestApp {
  /** The actual address, as opposed to the base URL. */
  readonly origin: string;
  readonly port: number;
  readonly server: Server;
  readonly settings: Settings;
  readonly database: TestDatabase;
  readonly arrange: Arrangement;
  /** All log lines so far. */
  readonly logLines: readonly Record<string, unknown>[];
  client(token?: string): ApiClient;
  stop(): Promise<void>;
}

/** Limits that no test reaches unless it tests limits. */
export const UNLIMITED = {
  RATE_LIMIT_TOKEN: '100000/100000',
  RATE_LIMIT_READ: '100000/100000',
  RATE_LIMIT_WRITE: '100000/100000',
  RATE_LIMIT_EXPORT: '100000/100000',
};
/** The limits of the specification. */
export const SPECIFIED_LIMITS = { RATE_LIMIT_TOKEN: '5/10', RATE_LIMIT_READ: '50/100', RATE_LIMIT_WRITE: '20/40' };

/** Causes of 500s by request. The environment of the tests prints them when a test fails, which sees the response alone. */
function keepCause({ requestId, error }: Record<string, unknown>): void {
  const { stack, message } = error as { stack?: string; message?: string };
  const { causes } = globalThis as { causes?: string[] };
  causes?.push(`500 internal_error, request ${String(requestId)}: ${stack ?? message ?? JSON.stringify(error)}`);
}

/** Starts the real API on a free port with a database of its own. */
export async function startApp(overrides: Record<string, string> = {}): Promise<TestApp> {
  const database = await createTestDatabase();
  const app = await startAppOn(database, overrides);
  return {
    ...app,
    stop: async () => {
      await app.stop();
      await database.drop();
    },
  };
}

/** Starts another instance on the same database with its own settings. */
export async function startInstance(of: TestApp, overrides: Record<string, string> = {}): Promise<TestApp> {
  return startAppOn(of.database, overrides);
}

/** Starts the API on a database that stays when it stops. */
export async function startAppOn(database: TestDatabase, overrides: Record<string, string> = {}): Promise<TestApp> {
  // Prepares the response checks here, outside measured time.
  oracle();
  const settings = loadSettings({
    NODE_ENV: 'test',
    DATABASE_URL: database.databaseUrl,
    LOCAL_DIR: process.env['TEST_LOCAL_DIR'],
    BASE_URL: 'https://api.example.test',
    PORT: '0',
    ...UNLIMITED,
    ...overrides,
  });
  const logLines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const line = JSON.parse(chunk.toString()) as Record<string, unknown>;
      logLines.push(line);
      // A second line for the same request has no error.
      if (line['code'] === 'internal_error' && line['error'] !== undefined) keepCause(line);
      done();
    },
  });
  const app = await createApp(settings, { log: pino({ level: 'info', base: undefined, messageKey: 'message' }, sink) });
  await app.listen(0, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    port,
    server,
    settings,
    database,
    arrange: new Arrangement(database.admin, settings, origin),
    logLines,
    client: (token) => new ApiClient(origin, token),
    stop: async () => {
      server.closeAllConnections();
      await app.close();
    },
  };
}
