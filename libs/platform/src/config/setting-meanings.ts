import type { settingsSchema } from './settings-schema';

/** What docs/settings.md says of a setting beside its name and its default. */
export interface SettingMeaning {
  readonly meaning: string;
  /** Where it follows from other settings, or is not ours. */
  readonly derivedDefault?: string;
  /** The default of the image, where that is another. */
  readonly imageDefault?: string;
}

/** For whoever sets them, in Markdown. `npm run settings` writes the tables of docs/settings.md from this and the schema. */
export const SETTING_MEANINGS: Readonly<Record<keyof typeof settingsSchema.shape, SettingMeaning>> = {
  NODE_ENV: {
    meaning: '`production` refuses to run without keys, or with a database role that row-level security does not hold',
  },
  PORT: { meaning: 'public listener' },
  HOST: { meaning: 'address of the public listener', imageDefault: '0.0.0.0' },
  MANAGEMENT_PORT: {
    meaning: '`/livez`, `/readyz`, `/metrics`, `/jwks.json`; another port than `PORT`; 0 switches it off',
  },
  MANAGEMENT_HOST: { meaning: 'address of the management listener' },
  BASE_URL: {
    meaning: 'how clients reach the API: issuer of tokens, address of problem types, default audience',
    derivedDefault: '`http://127.0.0.1:PORT`',
  },
  DATABASE_URL: {
    meaning: 'Postgres 15 or newer, as the runtime role: owner of nothing, no superuser, no BYPASSRLS',
  },
  MIGRATION_DATABASE_URL: {
    meaning: "the same database as the role that owns it; the operators' commands need it, the API does not",
  },
  DATABASE_POOL_SIZE: { meaning: 'connections of one process at most, beside one for `/readyz`' },
  DATABASE_REPLICA_URLS: {
    meaning:
      '[standbys](scaling.md#standbys) for lists and reads by id, comma-separated; a pool of the same size for each',
  },
  DATABASE_PREPARED_STATEMENTS: {
    meaning: '`off` behind a [pooler](scaling.md#pgbouncer) that loses prepared statements',
  },
  REDIS_URL: {
    meaning: 'one node, sentinels or a cluster ([syntax](#redis_url)); without it one replica only, said at start',
  },
  IDEMPOTENCY_TTL_SECONDS: { meaning: "how long a write's answer is kept for replay, at least 1" },
  TOKEN_AUDIENCE: { meaning: 'the audience of tokens; one string, compared exactly', derivedDefault: 'BASE_URL' },
  ACCESS_TOKEN_TTL_SECONDS: { meaning: 'lifetime of a token, at least 1' },
  SIGNING_KEYS_DIR: {
    meaning: 'RSA keys, one PEM file each; required when `NODE_ENV=production`',
    derivedDefault: '`LOCAL_DIR/keys/signing`',
  },
  CURSOR_KEYS_FILE: {
    meaning: 'keys that seal page cursors; required when `NODE_ENV=production`',
    derivedDefault: '`LOCAL_DIR/keys/cursor.json`',
  },
  SECRET_PEPPER_FILE: {
    meaning: 'key of the digests of client secrets, at least 16 bytes; required when `NODE_ENV=production`',
    derivedDefault: '`LOCAL_DIR/keys/pepper`',
  },
  AUDIT_KEY_FILE: {
    meaning: "key of the [audit](audit.md)'s codes, at least 32 bytes; required when `NODE_ENV=production`",
    derivedDefault: '`LOCAL_DIR/keys/audit`',
  },
  RATE_LIMIT_TOKEN: { meaning: 'token requests of one client: sustained per minute / burst' },
  RATE_LIMIT_READ: { meaning: 'reads of one client' },
  RATE_LIMIT_WRITE: { meaning: 'writes of one client' },
  REPLICAS: { meaning: 'divides the limits while Redis is away and each process counts by itself' },
  TRUST_PROXY: {
    meaning:
      'proxies whose `X-Forwarded-For` counts: addresses and subnets, comma-separated; `loopback`, ' +
      '`linklocal`, `uniquelocal`',
  },
  LOCAL_DIR: { meaning: "embedded Postgres, keys made by ourselves, the demo's credentials" },
  LOG_LEVEL: { meaning: 'fatal, error, warn, info, debug, trace or silent' },
  LOG_FORMAT: { meaning: '`pretty` for a terminal' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { meaning: 'base address of the collector, OTLP by HTTP' },
  OTEL_SDK_DISABLED: { meaning: '`true` keeps no traces, whatever else is set' },
  OTEL_EXPORTER_OTLP_HEADERS: { meaning: 'headers for the collector: `name=value,…`' },
  OTEL_SERVICE_NAME: { meaning: 'what traces call the service', derivedDefault: 'compliance-api' },
  OTEL_RESOURCE_ATTRIBUTES: { meaning: 'what else they say of it: `name=value,…`' },
  OTEL_TRACES_SAMPLER: {
    meaning: 'or always_on, always_off, traceidratio, parentbased_always_off, parentbased_traceidratio',
    derivedDefault: 'parentbased_always_on',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    meaning: 'the share of requests that the two samplers of a ratio keep, 0 to 1',
    derivedDefault: '1',
  },
};
