import { isIP } from 'node:net';
import { z } from 'zod';
import { RATE_LIMIT_RULE, type RateLimit, parseRateLimit } from '#libs/kernel';
import { OPERATOR_NAME_RULE, isOperatorName } from './operator-name';
import { type RedisUrlInvalid, parseRedisUrl } from './redis-address';

const wholeNumberBetween = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  const number = z.number().min(least, { error }).max(most, { error });
  return z.string().trim().regex(/^\d+$/, { error, abort: true }).transform(Number).pipe(number);
};
const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
const RATIO = { error: 'must be a number from 0 to 1' };
const port = wholeNumberBetween(0, 65_535);
const wholeNumber = wholeNumberBetween(1, 2_147_483_647);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL', abort: true });
const baseUrl = httpUrl.refine(
  // Every problem's `type` starts with this URL, so a user name in it would be published.
  (url) => /^[a-z]+:\/\/[^/@?#]+(\/[^?#]*)?$/i.test(url),
  'must have neither a user, a query nor a fragment: addresses are made by adding a path',
);
const issuer = baseUrl.refine(
  (url) => !url.includes('/.well-known/'),
  'must be the issuer itself, without /.well-known/: people are bound to it',
);
const origin = httpUrl.refine(
  (url) => !URL.canParse(url) || new URL(url).origin === url.replace(/\/$/, ''),
  'must be an origin such as https://console.example.com: scheme and host, and no path',
);
export const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
/** Values with commas between. */
const listOf = (isValid: (value: string) => boolean, what: string) =>
  z
    .string()
    .default('')
    .transform((text) => text.split(',').map((value) => value.trim()))
    .transform((list) => list.filter((value) => value !== ''))
    .refine((list) => list.every(isValid), `must be a comma-separated list of ${what}`);
export const standbyUrls = listOf(
  (url) => postgresUrl.safeParse(url).success,
  'postgres:// URLs (a comma in a password is written %2C)',
);
const redisUrl = z.string().superRefine((url, context) => {
  try {
    parseRedisUrl(url);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as RedisUrlInvalid).message });
  }
});
const text = z.string().min(1);
const path = text;
const SAMPLERS = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

const rateLimit = (normal: string) =>
  z
    .string()
    .default(normal)
    .transform((text, context): RateLimit => {
      const limit = parseRateLimit(text);
      if (limit) return limit;
      context.addIssue({ code: 'custom', message: `must be ${RATE_LIMIT_RULE}` });
      return z.NEVER;
    });
const operatorName = z.string().refine(isOperatorName, `must be ${OPERATOR_NAME_RULE}`);
const proxies = listOf(isProxy, 'addresses, such as 10.0.0.0/8');

/** An address, a subnet, or one of the names that Express knows. */
function isProxy(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : 0;
  if (bits === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

const networks = listOf(
  (network) => isIP(network.split('/')[0] ?? '') !== 0 && isProxy(network),
  'addresses and subnets, such as 10.20.0.0/16',
);

/** The row of a setting in docs/settings.md, in Markdown, without its name and default. */
export interface SettingMeaning {
  readonly meaning: string;
  /** Describes a default that depends on other settings or comes from a library. */
  readonly derivedDefault?: string;
  /** The default in the container image, when it differs. */
  readonly imageDefault?: string;
}
const meanings = z.registry<SettingMeaning>();

/** Every setting with its default and its meaning. `npm run settings` writes docs/settings.md from it. */
export const settingsSchema = z.object({
  NODE_ENV: oneOf('production', 'development', 'test').default('development').register(meanings, {
    meaning:
      '`production` refuses to start without keys, or with a database role that row-level security does not bind',
  }),
  PORT: port.default(3000).register(meanings, { meaning: 'port of the public listener' }),
  HOST: text
    .default('127.0.0.1')
    .register(meanings, { meaning: 'address of the public listener', imageDefault: '0.0.0.0' }),
  MANAGEMENT_PORT: port.default(9090).register(meanings, {
    meaning: 'port of `/livez`, `/readyz`, `/metrics` and `/jwks.json`; must differ from `PORT`; 0 switches it off',
  }),
  MANAGEMENT_HOST: text.default('127.0.0.1').register(meanings, { meaning: 'address of the management listener' }),
  BASE_URL: baseUrl.optional().register(meanings, {
    meaning:
      'address of the API for clients: issuer of tokens, base of problem types, default audience; ' +
      'set it in production, where a start without it warns',
    derivedDefault: '`http://127.0.0.1:PORT`',
  }),
  DATABASE_URL: postgresUrl.register(meanings, {
    meaning: 'Postgres 15 or newer, with the runtime role: owns nothing, no superuser, no BYPASSRLS',
  }),
  MIGRATION_DATABASE_URL: postgresUrl.optional().register(meanings, {
    meaning: "the same database with the role that owns it; only the operators' commands need it",
  }),
  DATABASE_POOL_SIZE: wholeNumber
    .default(10)
    .register(meanings, { meaning: 'maximum connections of one instance, beside one for `/readyz`' }),
  DATABASE_REPLICA_URLS: standbyUrls.register(meanings, {
    meaning:
      '[standbys](scaling.md#standbys) for lists and reads by id, comma-separated; each has a pool of the same size',
  }),
  DATABASE_PREPARED_STATEMENTS: oneOf('on', 'off').default('on').register(meanings, {
    meaning: '`off` behind a [pooler](scaling.md#pgbouncer) that loses prepared statements',
  }),
  REDIS_URL: redisUrl.optional().register(meanings, {
    meaning: 'one node, sentinels or a cluster ([syntax](#redis_url)); without it run one instance only',
  }),
  IDEMPOTENCY_TTL_SECONDS: wholeNumber
    .default(86_400)
    .register(meanings, { meaning: 'how long an idempotency record is kept, at least 1' }),
  TOKEN_AUDIENCE: text.optional().register(meanings, {
    meaning: 'audience of tokens; one string, compared exactly',
    derivedDefault: 'BASE_URL',
  }),
  ACCESS_TOKEN_TTL_SECONDS: wholeNumber
    .default(3600)
    .register(meanings, { meaning: 'lifetime of a token, at least 1' }),
  SIGNING_KEYS_DIR: path.optional().register(meanings, {
    meaning: '[keys](keys.md) of tokens, page cursors and checkpoints; required when `NODE_ENV=production`',
    derivedDefault: '`LOCAL_DIR/keys/signing`',
  }),
  CURSOR_KEYS_FILE: path.optional().register(meanings, {
    meaning: 'cursor keys of release 1.0.0, if any; the next release no longer reads it',
    derivedDefault: '`LOCAL_DIR/keys/cursor.json`',
  }),
  SECRET_PEPPER_FILE: path.optional().register(meanings, {
    meaning: 'key of the digests of client secrets, at least 16 bytes; required when `NODE_ENV=production`',
    derivedDefault: '`LOCAL_DIR/keys/pepper`',
  }),
  AUDIT_KEY_FILE: path.optional().register(meanings, {
    meaning: "key of the [audit](audit.md)'s codes, at least 32 bytes; required when `NODE_ENV=production`",
    derivedDefault: '`LOCAL_DIR/keys/audit`',
  }),
  RATE_LIMIT_TOKEN: rateLimit('5/10').register(meanings, {
    meaning: 'token requests of one client: per minute / burst',
  }),
  RATE_LIMIT_READ: rateLimit('50/100').register(meanings, { meaning: 'reads of one client: per minute / burst' }),
  RATE_LIMIT_WRITE: rateLimit('20/40').register(meanings, { meaning: 'writes of one client: per minute / burst' }),
  RATE_LIMIT_EXPORT: rateLimit('2/4').register(meanings, {
    meaning: '[streams](streams.md) that one client begins: per minute / burst',
  }),
  HISTORY_RETENTION_DAYS: wholeNumberBetween(0, 36_500).default(400).register(meanings, {
    meaning: 'days that [former states](history.md) are kept after they ended; 0 keeps them for ever',
  }),
  REPLICAS: wholeNumber.default(1).register(meanings, {
    meaning: 'number of instances; divides the limits while Redis is away; over 1 needs `REDIS_URL` in production',
  }),
  OPERATOR_NAME: operatorName.optional().register(meanings, {
    meaning: "who runs the operators' commands, as audit events show it: a role or initials; `--as` says otherwise",
    derivedDefault: 'login name of the system',
  }),
  TRUST_PROXY: proxies.register(meanings, {
    meaning:
      'proxies whose `X-Forwarded-For` counts, comma-separated: addresses, subnets, `loopback`, `linklocal`, ' +
      '`uniquelocal`',
  }),
  TRUST_ISSUER_NETWORKS: networks.register(meanings, {
    meaning:
      'networks that are not reachable from everywhere, in which issuers may be that operators ' +
      '[trust](use-no-secret.md): addresses and subnets, comma-separated',
  }),
  LOCAL_DIR: path
    .default('.local')
    .register(meanings, { meaning: "directory of the embedded Postgres, generated keys and the demo's credentials" }),
  CONSOLE_PORT: port.default(3001).register(meanings, { meaning: 'port of the [console](console.md)' }),
  CONSOLE_HOST: text.default('127.0.0.1').register(meanings, { meaning: 'its address', imageDefault: '0.0.0.0' }),
  CONSOLE_URL: origin.optional().register(meanings, {
    meaning: 'address of the console for browsers; https when `NODE_ENV=production`',
    derivedDefault: '`http://127.0.0.1:CONSOLE_PORT`',
  }),
  CONSOLE_DATABASE_URL: postgresUrl.optional().register(meanings, {
    meaning: 'the same database with a role of the console’s own; `admin migrate` grants it what the pages need',
  }),
  CONSOLE_OIDC_ISSUER: issuer.optional().register(meanings, {
    meaning: 'issuer of OpenID Connect for sign-in; the console requires it when `NODE_ENV=production`',
  }),
  CONSOLE_OIDC_CLIENT_ID: text.optional().register(meanings, {
    meaning: 'client id of the console at the issuer',
  }),
  CONSOLE_OIDC_SECRET_FILE: path.optional().register(meanings, { meaning: 'file with the secret of that client' }),
  CONSOLE_MANAGEMENT_PORT: port.default(9091).register(meanings, {
    meaning:
      'port of the console’s `/livez`, `/readyz` and `/metrics`; must differ from `CONSOLE_PORT`; 0 switches it off',
  }),
  CONSOLE_MANAGEMENT_HOST: text
    .default('127.0.0.1')
    .register(meanings, { meaning: 'address of the console’s management listener' }),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')
    .default('info')
    .register(meanings, { meaning: 'fatal, error, warn, info, debug, trace or silent' }),
  LOG_FORMAT: oneOf('json', 'pretty')
    .default('json')
    .register(meanings, { meaning: '`json`, or `pretty` for a terminal' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .register(meanings, { meaning: 'base address of the collector, OTLP by HTTP' }),
  OTEL_SDK_DISABLED: z
    .stringbool({ truthy: ['true'], falsy: ['false'], error: 'must be true or false' })
    .default(false)
    .register(meanings, { meaning: '`true` keeps no traces, whatever else is set' }),
  // The OpenTelemetry libraries read the following settings themselves.
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .optional()
    .register(meanings, { meaning: 'headers for the collector: `name=value,…`' }),
  OTEL_SERVICE_NAME: z
    .string()
    .optional()
    .register(meanings, { meaning: 'name of the service in traces', derivedDefault: 'compliance-api' }),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .register(meanings, { meaning: 'further attributes of the service: `name=value,…`' }),
  OTEL_TRACES_SAMPLER: oneOf(...SAMPLERS)
    .optional()
    .register(meanings, {
      meaning: 'or always_on, always_off, traceidratio, parentbased_always_off, parentbased_traceidratio',
      derivedDefault: 'parentbased_always_on',
    }),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number(RATIO).min(0, RATIO).max(1, RATIO).optional().register(meanings, {
    meaning: 'share of requests that the two ratio samplers keep, 0 to 1',
    derivedDefault: '1',
  }),
});

/** @throws for a setting without a description */
export function meaningOf(name: keyof typeof settingsSchema.shape): SettingMeaning {
  const meaning = meanings.get(settingsSchema.shape[name]);
  if (meaning === undefined) throw new Error(`${name} has no meaning for docs/settings.md.`);
  return meaning;
}
