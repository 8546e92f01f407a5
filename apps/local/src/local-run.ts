import 'reflect-metadata';
import { makeMissingKeys } from '#libs/platform/keys';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '#libs/local-postgres';
import { type Settings, SettingsInvalid, isSet, loadSettingsWithoutDatabase } from '#libs/platform/config';
import { secretFiles } from '../../features';
import { banner } from './banner';
import { credentialsFileOf } from './demo-access';
import { prepareDemo } from './demo';
import { AddressUnavailable, originOf, reservePort } from './listen-addresses';
import { LocalConsole } from './local-console';
import type { ServedApi } from './served-api';
import type { StopRequest } from './stop-request';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs until a stop is requested (0) or a failure (1). The caller stops `api`. */
export async function runLocally(api: ServedApi, stop: StopRequest): Promise<number> {
  const postgres = new Opened();
  const localConsole = new LocalConsole();
  try {
    return await run(api, localConsole, stop, postgres);
  } catch (error) {
    // Errors during shutdown only follow from it.
    if (stop.isAsked) return 0;
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  } finally {
    await Promise.all([api.stop(), localConsole.stop()]);
    await postgres.close();
    if (stop.isAsked) say('Stopped.');
  }
}

async function run(api: ServedApi, localConsole: LocalConsole, stop: StopRequest, postgres: Opened): Promise<number> {
  const settings = await readSettings(process.env);
  say('Setting up Postgres…');
  const [connection] = await Promise.all([
    postgres.open(process.env, settings),
    makeMissingKeys(settings, secretFiles),
  ]);
  if (stop.isAsked) return 0;
  const { credentials, linkToken } = await prepareDemo({ settings, ...connection, say, checkStopped: stop.check });
  if (stop.isAsked) return 0;
  say('Starting the API…');
  const environment = {
    ...process.env,
    LOG_LEVEL: process.env['LOG_LEVEL'] || 'warn',
    LOCAL_DIR: settings.localDir,
    PORT: String(settings.port),
  };
  const consoleAddress = localConsole.serve(environment, settings, connection.consoleDatabaseUrl, linkToken);
  api.serve({
    ...environment,
    MANAGEMENT_PORT: String(settings.managementPort ?? 0),
    // DATABASE_URL_FILE replaces the variable; setting both would be refused.
    ...(process.env['DATABASE_URL_FILE'] ? {} : { DATABASE_URL: connection.databaseUrl }),
  });
  const origin = originOf(settings.host, settings.port);
  const ended = Promise.race([stop.asked, api.gone]);
  const ready = await Promise.race([Promise.all([consoleAddress, api.responses(origin)]), ended]);
  if (ready?.[1]) {
    const credentialsFile = credentialsFileOf(settings);
    const { explorer } = credentials;
    const addresses = { baseUrl: settings.baseUrl, origin, console: ready[0] };
    say(banner({ ...addresses, client: credentials, explorer, credentialsFile }));
    await ended;
  }
  if (stop.isAsked) return 0;
  process.stderr.write('The API ended by itself; everything is stopped.\n');
  return 1;
}

/** Reads the settings and fixes the ports. Without a configured database, the embedded one is used. */
async function readSettings(environment: NodeJS.ProcessEnv): Promise<Settings> {
  const wanted = loadSettingsWithoutDatabase(environment);
  const port = await reservePort('PORT', wanted.host, wanted.port);
  if (wanted.managementPort !== null) {
    await reservePort('MANAGEMENT_PORT', wanted.managementHost, wanted.managementPort);
  }
  return loadSettingsWithoutDatabase({ ...environment, PORT: String(port) });
}

interface Connection {
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string;
  /** Null where a configured database has no role of the console. */
  readonly consoleDatabaseUrl: string | null;
}

/** The configured or embedded database. Can be closed even while it is being opened. */
class Opened {
  private embedded: Promise<EmbeddedPostgres> | null = null;

  async open(environment: NodeJS.ProcessEnv, settings: Settings): Promise<Connection> {
    if (!isSet(environment, 'DATABASE_URL')) {
      this.embedded = openEmbeddedPostgres({ localDir: settings.localDir, say });
      return this.embedded;
    }
    const { databaseUrl, migrationDatabaseUrl } = settings;
    const consoleDatabaseUrl = settings.console.databaseUrl;
    if (migrationDatabaseUrl !== null) return { databaseUrl, migrationDatabaseUrl, consoleDatabaseUrl };
    throw new SettingsInvalid(['MIGRATION_DATABASE_URL is required beside DATABASE_URL']);
  }

  async close(): Promise<void> {
    const embedded = await this.embedded?.catch(() => null);
    await embedded?.close().catch((error: unknown) => process.stderr.write(`${explain(error)}\n`));
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SettingsInvalid || error instanceof AddressUnavailable) return error.message;
  if (process.env['LOG_LEVEL'] === 'debug') return error.stack ?? error.message;
  // A database that refuses all of its addresses reports one error for each and no message of its own.
  const message = error.message || ((error as Partial<AggregateError>).errors ?? []).map(String).join('; ');
  return `Cannot start: ${message}`;
}
