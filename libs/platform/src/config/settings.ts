import { join, resolve } from 'node:path';
import type { RateLimit, RateLimits } from '#libs/kernel';
import type { z } from 'zod';
import { readSecretFileSync } from './secret-file';
import { faultsBetween } from './settings-faults';
import { settingsSchema } from './settings-schema';

/** Settings that may also be given as `<NAME>_FILE`: the path of a file that holds the value. */
const SECRET_SETTINGS = [
  ...(['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'MIGRATION_DATABASE_URL', 'REDIS_URL'] as const),
  'CONSOLE_DATABASE_URL',
] as const;

/** The settings are invalid. Lists every fault and never shows a value. */
export class SettingsInvalid extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The settings are not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'SettingsInvalid';
  }
}

/** The settings of the web console. */
export interface ConsoleSettings {
  readonly port: number;
  readonly host: string;
  /** Origin for browsers, without a trailing slash. */
  readonly url: string;
  readonly databaseUrl: string | null;
  /** Null where people sign in by a link. */
  readonly oidc: { readonly issuer: string; readonly clientId: string; readonly secretFile: string } | null;
  /** Null when the management server is switched off. */
  readonly managementPort: number | null;
  readonly managementHost: string;
}

/** The settings of one instance, read once at its start. */
export class Settings {
  readonly production!: boolean;
  readonly port!: number;
  readonly host!: string;
  /** Null when the management server is switched off. */
  readonly managementPort!: number | null;
  readonly managementHost!: string;
  /** Without a trailing slash. Issuer of the tokens and base of the problem types. */
  readonly baseUrl!: string;
  readonly databaseUrl!: string;
  /** Null when only the API runs. The operators' commands need it. */
  readonly migrationDatabaseUrl!: string | null;
  /** Connections of one instance to the primary, and as many to each standby. */
  readonly databasePoolSize!: number;
  /** Standbys for reads that need not see the latest commits. May be empty. */
  readonly databaseStandbyUrls!: readonly string[];
  /** False when a connection pooler in front of Postgres loses prepared statements. */
  readonly preparedStatements!: boolean;
  /** Null without Redis, which allows only one instance. */
  readonly redisUrl!: string | null;
  readonly idempotencyTtlSeconds!: number;
  readonly rateLimits!: RateLimits;
  /** Streams that one client may begin. */
  readonly exportLimit!: RateLimit;
  /** Instances that share the limits while Redis is away. */
  readonly replicas!: number;
  /** Days that former states are kept. 0 keeps them for ever. */
  readonly historyRetentionDays!: number;
  /** Addresses and subnets of proxies that may report the client's address. */
  readonly trustedProxies!: readonly string[];
  /** Networks, other than the Internet, in which issuers may be that operators trust. */
  readonly trustIssuerNetworks!: readonly string[];
  readonly tokenAudience!: string;
  readonly accessTokenTtlSeconds!: number;
  /** Who runs operators' commands, for audit events. Null when it is not set. */
  readonly operatorName!: string | null;
  readonly signingKeysDir!: string;
  readonly cursorKeysFile!: string;
  readonly secretPepperFile!: string;
  readonly auditKeyFile!: string;
  /** Directory of the embedded Postgres, the generated keys and the demo's credentials. */
  readonly localDir!: string;
  readonly console!: ConsoleSettings;
  readonly logLevel!: string;
  readonly logFormat!: 'json' | 'pretty';
  /** Base address of the trace collector. Null disables tracing. */
  readonly tracesEndpoint!: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a setting is given, as such or in a file. */
export const isSet = (environment: Environment, name: string): boolean =>
  Boolean(environment[name]) || Boolean(environment[`${name}_FILE`]);

/** Loads the settings where none may name a database. The placeholder is never connected to. */
export function loadSettingsWithoutDatabase(environment: Environment): Settings {
  const placeholder = { DATABASE_URL: 'postgres://none.invalid/none' };
  return loadSettings(isSet(environment, 'DATABASE_URL') ? environment : { ...environment, ...placeholder });
}

/** Reads and checks the settings. @throws {@link SettingsInvalid} with every fault, not just the first */
export function loadSettings(environment: Environment): Settings {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    // Compose files and shells write an empty variable for "not set".
    if (value !== undefined && value !== '') given[name] = value;
  }
  const faults = readSecretFiles(given);
  const parsed = settingsSchema.safeParse(given);
  for (const issue of parsed.error?.issues ?? []) {
    const name = issue.path.join('.');
    faults.push(`${name} ${given[name] === undefined ? 'is required' : issue.message}`);
  }
  faults.push(...faultsBetween(given));
  if (!parsed.success || faults.length > 0) throw new SettingsInvalid(faults);

  const settings = parsed.data;
  const baseUrl = (settings.BASE_URL ?? `http://127.0.0.1:${settings.PORT}`).replace(/\/+$/, '');
  const localDir = resolve(settings.LOCAL_DIR);
  const values: Settings = {
    production: settings.NODE_ENV === 'production',
    port: settings.PORT,
    host: settings.HOST,
    managementPort: settings.MANAGEMENT_PORT === 0 ? null : settings.MANAGEMENT_PORT,
    managementHost: settings.MANAGEMENT_HOST,
    baseUrl,
    databaseUrl: settings.DATABASE_URL,
    migrationDatabaseUrl: settings.MIGRATION_DATABASE_URL ?? null,
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    databaseStandbyUrls: settings.DATABASE_REPLICA_URLS,
    preparedStatements: settings.DATABASE_PREPARED_STATEMENTS === 'on',
    redisUrl: settings.REDIS_URL ?? null,
    idempotencyTtlSeconds: settings.IDEMPOTENCY_TTL_SECONDS,
    rateLimits: { token: settings.RATE_LIMIT_TOKEN, read: settings.RATE_LIMIT_READ, write: settings.RATE_LIMIT_WRITE },
    exportLimit: settings.RATE_LIMIT_EXPORT,
    replicas: settings.REPLICAS,
    historyRetentionDays: settings.HISTORY_RETENTION_DAYS,
    trustedProxies: settings.TRUST_PROXY,
    trustIssuerNetworks: settings.TRUST_ISSUER_NETWORKS,
    tokenAudience: settings.TOKEN_AUDIENCE ?? baseUrl,
    accessTokenTtlSeconds: settings.ACCESS_TOKEN_TTL_SECONDS,
    operatorName: settings.OPERATOR_NAME ?? null,
    signingKeysDir: settings.SIGNING_KEYS_DIR ?? join(localDir, 'keys', 'signing'),
    cursorKeysFile: settings.CURSOR_KEYS_FILE ?? join(localDir, 'keys', 'cursor.json'),
    secretPepperFile: settings.SECRET_PEPPER_FILE ?? join(localDir, 'keys', 'pepper'),
    auditKeyFile: settings.AUDIT_KEY_FILE ?? join(localDir, 'keys', 'audit'),
    localDir,
    console: consoleSettings(settings),
    logLevel: settings.LOG_LEVEL,
    logFormat: settings.LOG_FORMAT,
    tracesEndpoint: settings.OTEL_SDK_DISABLED ? null : (settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? null),
  };
  return Object.assign(new Settings(), values);
}

function consoleSettings(given: z.infer<typeof settingsSchema>): ConsoleSettings {
  const [issuer, clientId] = [given.CONSOLE_OIDC_ISSUER, given.CONSOLE_OIDC_CLIENT_ID];
  const secretFile = given.CONSOLE_OIDC_SECRET_FILE;
  return {
    port: given.CONSOLE_PORT,
    host: given.CONSOLE_HOST,
    url: (given.CONSOLE_URL ?? `http://127.0.0.1:${given.CONSOLE_PORT}`).replace(/\/$/, ''),
    databaseUrl: given.CONSOLE_DATABASE_URL ?? null,
    oidc: issuer && clientId && secretFile ? { issuer, clientId, secretFile } : null,
    managementPort: given.CONSOLE_MANAGEMENT_PORT === 0 ? null : given.CONSOLE_MANAGEMENT_PORT,
    managementHost: given.CONSOLE_MANAGEMENT_HOST,
  };
}

function readSecretFiles(given: Record<string, string>): string[] {
  const faults: string[] = [];
  for (const name of SECRET_SETTINGS) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    if (given[name] !== undefined) faults.push(`${name} and ${name}_FILE are both set; set one`);
    try {
      given[name] = readSecretFileSync(file).toString().trim();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      faults.push(`${name}_FILE names a file that cannot be read (${code ?? 'unknown'})`);
    }
  }
  return faults;
}
