import { join, resolve } from 'node:path';
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

type Given = z.infer<typeof settingsSchema>;

/** The settings of one instance, read once at its start. Nest injects by class, so this gives their type to a class. */
export class Settings extends (class {} as new () => Readonly<ReturnType<typeof valuesOf>>) {}

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a setting is given, as such or in a file. */
export const isSet = (environment: Environment, name: string): boolean =>
  Boolean(environment[name]) || Boolean(environment[`${name}_FILE`]);

/** Loads the settings where none may name a database. The placeholder is never connected to. */
export function loadSettingsWithoutDatabase(environment: Environment, otherFaults: readonly string[] = []): Settings {
  const placeholder = { DATABASE_URL: 'postgres://none.invalid/none' };
  const named = isSet(environment, 'DATABASE_URL') ? environment : { ...environment, ...placeholder };
  return loadSettings(named, otherFaults);
}

/**
 * Reads and checks the settings. A process adds the faults that only it looks for.
 * @throws {@link SettingsInvalid} with every fault, not just the first
 */
export function loadSettings(environment: Environment, otherFaults: readonly string[] = []): Settings {
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
  faults.push(...faultsBetween(given), ...otherFaults);
  if (!parsed.success || faults.length > 0) throw new SettingsInvalid(faults);

  return Object.assign(new Settings(), valuesOf(parsed.data));
}

function valuesOf(given: Given) {
  const baseUrl = (given.BASE_URL ?? `http://127.0.0.1:${given.PORT}`).replace(/\/+$/, '');
  const localDir = resolve(given.LOCAL_DIR);
  return {
    production: given.NODE_ENV === 'production',
    port: given.PORT,
    host: given.HOST,
    /** Null when the management server is switched off. */
    managementPort: given.MANAGEMENT_PORT === 0 ? null : given.MANAGEMENT_PORT,
    managementHost: given.MANAGEMENT_HOST,
    /** Without a trailing slash. Issuer of the tokens and base of the problem types. */
    baseUrl,
    databaseUrl: given.DATABASE_URL,
    /** Null when only the API runs. The operators' commands need it. */
    migrationDatabaseUrl: given.MIGRATION_DATABASE_URL ?? null,
    /** Connections of one instance to the primary, and as many to each standby. */
    databasePoolSize: given.DATABASE_POOL_SIZE,
    /** Standbys for reads that need not see the latest commits. May be empty. */
    databaseStandbyUrls: given.DATABASE_REPLICA_URLS,
    /** False when a connection pooler in front of Postgres loses prepared statements. */
    preparedStatements: given.DATABASE_PREPARED_STATEMENTS === 'on',
    /** Null without Redis, which allows only one instance. */
    redisUrl: given.REDIS_URL ?? null,
    idempotencyTtlSeconds: given.IDEMPOTENCY_TTL_SECONDS,
    rateLimits: { token: given.RATE_LIMIT_TOKEN, read: given.RATE_LIMIT_READ, write: given.RATE_LIMIT_WRITE },
    /** Streams that one client may begin. */
    exportLimit: given.RATE_LIMIT_EXPORT,
    /** Instances that share the limits while Redis is away. */
    replicas: given.REPLICAS,
    /** Days that former states are kept. 0 keeps them for ever. */
    historyRetentionDays: given.HISTORY_RETENTION_DAYS,
    /** Addresses and subnets of proxies that may report the client's address. */
    trustedProxies: given.TRUST_PROXY,
    /** Networks, other than the Internet, in which issuers may be that operators trust. */
    trustIssuerNetworks: given.TRUST_ISSUER_NETWORKS,
    tokenAudience: given.TOKEN_AUDIENCE ?? baseUrl,
    accessTokenTtlSeconds: given.ACCESS_TOKEN_TTL_SECONDS,
    /** Name of the person who runs operators' commands, for audit events. Null when it is not set. */
    operatorName: given.OPERATOR_NAME ?? null,
    signingKeysDir: given.SIGNING_KEYS_DIR ?? join(localDir, 'keys', 'signing'),
    cursorKeysFile: given.CURSOR_KEYS_FILE ?? join(localDir, 'keys', 'cursor.json'),
    secretPepperFile: given.SECRET_PEPPER_FILE ?? join(localDir, 'keys', 'pepper'),
    auditKeyFile: given.AUDIT_KEY_FILE ?? join(localDir, 'keys', 'audit'),
    /** Directory of the embedded Postgres, the generated keys and the demo's credentials. */
    localDir,
    console: consoleValuesOf(given),
    logLevel: given.LOG_LEVEL,
    logFormat: given.LOG_FORMAT,
    /** Base address of the trace collector. Null disables tracing. */
    tracesEndpoint: given.OTEL_SDK_DISABLED ? null : (given.OTEL_EXPORTER_OTLP_ENDPOINT ?? null),
  };
}

function consoleValuesOf(given: Given) {
  const [issuer, clientId] = [given.CONSOLE_OIDC_ISSUER, given.CONSOLE_OIDC_CLIENT_ID];
  const secretFile = given.CONSOLE_OIDC_SECRET_FILE;
  return {
    port: given.CONSOLE_PORT,
    host: given.CONSOLE_HOST,
    /** Origin for browsers, without a trailing slash. */
    url: (given.CONSOLE_URL ?? `http://127.0.0.1:${given.CONSOLE_PORT}`).replace(/\/$/, ''),
    databaseUrl: given.CONSOLE_DATABASE_URL ?? null,
    /** Null where people sign in by a link. */
    oidc: issuer && clientId && secretFile ? { issuer: plainAddress(issuer), clientId, secretFile } : null,
    /** Null when the management server is switched off. */
    managementPort: given.CONSOLE_MANAGEMENT_PORT === 0 ? null : given.CONSOLE_MANAGEMENT_PORT,
    managementHost: given.CONSOLE_MANAGEMENT_HOST,
  };
}

/** The same text, however the setting writes the address: people are bound to it. */
function plainAddress(text: string): string {
  const { href, origin } = new URL(text);
  return href === `${origin}/` ? origin : href;
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
