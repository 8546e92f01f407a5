import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFifo } from '../../../../test/support/fifo';
import { SettingsInvalid, loadSettings } from './settings';

const DATABASE_URL = 'postgres://api:secret@db/compliance';

const BARE = 'must have neither a user, a query nor a fragment: addresses are made by adding a path';

const LIMIT = 'must be <sustained per minute>/<burst>, as in 50/100, each from 1 to 999,999,999';
const ADDRESSES = 'must be a comma-separated list of addresses, such as 10.0.0.0/8';

const faultsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.faults;
    throw error;
  }
};

describe('Settings', () => {
  it('have the documented defaults', () => {
    expect(loadSettings({ DATABASE_URL })).toMatchObject({
      production: false,
      port: 3000,
      host: '127.0.0.1',
      managementPort: 9090,
      managementHost: '127.0.0.1',
      baseUrl: 'http://127.0.0.1:3000',
      tokenAudience: 'http://127.0.0.1:3000',
      accessTokenTtlSeconds: 3600,
      databasePoolSize: 10,
      rateLimits: {
        token: { perMinute: 5, burst: 10 },
        read: { perMinute: 50, burst: 100 },
        write: { perMinute: 20, burst: 40 },
      },
      replicas: 1,
      trustedProxies: [],
      logLevel: 'info',
      logFormat: 'json',
    });
  });

  it('derive the base URL from the port and the audience from the base URL, unless set', () => {
    expect(loadSettings({ DATABASE_URL, PORT: '8080' }).tokenAudience).toBe('http://127.0.0.1:8080');
    expect(loadSettings({ DATABASE_URL, BASE_URL: 'https://api.example.com/' }).baseUrl).toBe(
      'https://api.example.com',
    );
    expect(loadSettings({ DATABASE_URL, TOKEN_AUDIENCE: 'urn:api' }).tokenAudience).toBe('urn:api');
  });

  it.each([
    ['https://ID.example.com:443/', 'https://id.example.com'],
    ['HTTPS://id.example.com', 'https://id.example.com'],
    ['https://id.example.com/Realm/', 'https://id.example.com/Realm/'],
  ])('name the issuer to which people are bound in one way: %s', (CONSOLE_OIDC_ISSUER, issuer) => {
    const others = { CONSOLE_OIDC_CLIENT_ID: 'console', CONSOLE_OIDC_SECRET_FILE: '/run/secret' };

    expect(loadSettings({ DATABASE_URL, CONSOLE_OIDC_ISSUER, ...others }).console.oidc?.issuer).toBe(issuer);
  });

  it('refuse the discovery document of an issuer in place of the issuer', () => {
    const CONSOLE_OIDC_ISSUER = 'https://id.example.com/.well-known/openid-configuration';
    const others = { CONSOLE_OIDC_CLIENT_ID: 'console', CONSOLE_OIDC_SECRET_FILE: '/run/secret' };

    expect(faultsOf({ DATABASE_URL, CONSOLE_OIDC_ISSUER, ...others })).toEqual([
      'CONSOLE_OIDC_ISSUER must be the issuer itself, without /.well-known/: people are bound to it',
    ]);
  });

  it("accept standbys that connect as the primary's role, and no other role", () => {
    const replicas = 'postgres://api:secret@one/compliance, postgres://api:secret@two:5433/compliance';
    expect(loadSettings({ DATABASE_URL, DATABASE_REPLICA_URLS: replicas }).databaseStandbyUrls).toEqual(
      replicas.split(', '),
    );
    expect(loadSettings({ DATABASE_URL }).databaseStandbyUrls).toEqual([]);
    expect(faultsOf({ DATABASE_URL, DATABASE_REPLICA_URLS: 'postgres://postgres:x@one/compliance' })).toEqual([
      'DATABASE_REPLICA_URLS must connect as the role of DATABASE_URL',
    ]);
    expect(faultsOf({ DATABASE_URL, DATABASE_REPLICA_URLS: 'one,two' })).toEqual([
      expect.stringMatching(/^DATABASE_REPLICA_URLS must be a comma-separated list of postgres:/),
    ]);
  });

  it('report every fault, and never a value', () => {
    const faults = faultsOf({
      DATABASE_URL: 'mysql://u:hunter2@h/d',
      PORT: '70000',
      ACCESS_TOKEN_TTL_SECONDS: '0',
      LOG_LEVEL: 'loud',
    });
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'ACCESS_TOKEN_TTL_SECONDS',
      'LOG_LEVEL',
    ]);
    expect(faults.join()).not.toContain('hunter2');
  });

  it.each([
    ['PORT', 'http', 'must be a whole number from 0 to 65535'],
    ['PORT', '70000', 'must be a whole number from 0 to 65535'],
    ['BASE_URL', 'api.example.com', 'must be an http:// or https:// URL'],
    ['BASE_URL', 'https://api.example.com/?a=1', BARE],
    ['BASE_URL', 'https://api.example.com/#a', BARE],
    ['BASE_URL', 'https://user:secret@api.example.com', BARE],
    ['REPLICAS', '0', 'must be a whole number from 1 to 2147483647'],
    ['RATE_LIMIT_TOKEN', '5', LIMIT],
    ['RATE_LIMIT_READ', '0/100', LIMIT],
    ['RATE_LIMIT_READ', '50/0', LIMIT],
    ['RATE_LIMIT_WRITE', '20/40/60', LIMIT],
    ['RATE_LIMIT_WRITE', '-1/40', LIMIT],
    ['TRUST_PROXY', 'true', ADDRESSES],
    ['TRUST_PROXY', '1', ADDRESSES],
    ['TRUST_PROXY', '10.0.0.0/33', ADDRESSES],
    ['TRUST_PROXY', '::1/129', ADDRESSES],
    ['TRUST_PROXY', '127.0.0.1, proxy.example.com', ADDRESSES],
    ['DATABASE_POOL_SIZE', '1.5', 'must be a whole number from 1 to 2147483647'],
    ['NODE_ENV', 'prod', 'must be one of production, development, test'],
    ['LOG_FORMAT', 'xml', 'must be one of json, pretty'],
    ['OTEL_SDK_DISABLED', 'yes', 'must be true or false'],
    ['OTEL_TRACES_SAMPLER_ARG', '2', 'must be a number from 0 to 1'],
  ])('say what is allowed: %s=%s', (name, value, rule) => {
    expect(faultsOf({ DATABASE_URL, [name]: value })).toEqual([`${name} ${rule}`]);
  });

  it('require DATABASE_URL, and treat an empty variable as unset', () => {
    expect(faultsOf({})).toEqual(['DATABASE_URL is required']);
    expect(faultsOf({ DATABASE_URL: '', PORT: '' })).toEqual(['DATABASE_URL is required']);
  });

  it('require keys in production', () => {
    const keys = { SIGNING_KEYS_DIR: '/k', SECRET_PEPPER_FILE: '/p', AUDIT_KEY_FILE: '/a' };
    expect(faultsOf({ DATABASE_URL, NODE_ENV: 'production' })).toEqual(
      Object.keys(keys).map(
        (name) => `${name} is required when NODE_ENV=production: set its path, then run admin keys init`,
      ),
    );
    expect(faultsOf({ DATABASE_URL, NODE_ENV: 'production', ...keys })).toEqual([]);
  });

  it('require Redis in production beside several instances', () => {
    const keys = { SIGNING_KEYS_DIR: '/k', SECRET_PEPPER_FILE: '/p', AUDIT_KEY_FILE: '/a' };
    const production = { DATABASE_URL, NODE_ENV: 'production', ...keys };
    expect(faultsOf({ ...production, REPLICAS: '2' })).toEqual([
      'REDIS_URL is required when REPLICAS is over 1 and NODE_ENV=production',
    ]);
    expect(faultsOf({ ...production, REPLICAS: '1' })).toEqual([]);
    expect(faultsOf({ ...production, REPLICAS: '2', REDIS_URL: 'redis://cache' })).toEqual([]);
    expect(faultsOf({ DATABASE_URL, REPLICAS: '2' })).toEqual([]);
  });

  it('require keys in production even when another setting is invalid', () => {
    expect(faultsOf({ NODE_ENV: 'production', PORT: 'x' }).map((fault) => fault.split(' ')[0])).toEqual([
      ...['PORT', 'DATABASE_URL', 'SIGNING_KEYS_DIR', 'SECRET_PEPPER_FILE', 'AUDIT_KEY_FILE'],
    ]);
    const otherRole = { DATABASE_URL, DATABASE_REPLICA_URLS: 'postgres://postgres:x@one/compliance' };
    expect(faultsOf({ ...otherRole, REPLICAS: '0' })).toHaveLength(2);
  });

  it('accept whole numbers in digits only', () => {
    expect(loadSettings({ DATABASE_URL, PORT: ' 8080 ' }).port).toBe(8080);
    for (const PORT of [' ', '1e3', '0x50', '+80', '-80', '80.0', '8 0', '99999999999999999999']) {
      expect(faultsOf({ DATABASE_URL, PORT })).toEqual(['PORT must be a whole number from 0 to 65535']);
    }
  });

  it.each([
    ['MANAGEMENT_PORT must be another port than PORT', { PORT: '9090' }],
    ['MANAGEMENT_PORT must be another port than PORT', { PORT: '4000', MANAGEMENT_PORT: ' 4000' }],
    ['CONSOLE_MANAGEMENT_PORT must be another port than CONSOLE_PORT', { CONSOLE_PORT: '9091' }],
  ])('refuse one port for both listeners, also when another setting is invalid: %s', (fault, ports) => {
    expect(faultsOf({ DATABASE_URL, ...ports })).toEqual([fault]);
    expect(faultsOf({ ...ports })).toEqual(['DATABASE_URL is required', fault]);
  });

  it('say nothing of equal ports where both are 0 or invalid', () => {
    expect(faultsOf({ DATABASE_URL, PORT: '0', MANAGEMENT_PORT: '0' })).toEqual([]);
    expect(faultsOf({ DATABASE_URL, PORT: 'x', MANAGEMENT_PORT: 'y' })).toHaveLength(2);
  });

  it('turn the management server off with port 0', () => {
    expect(loadSettings({ DATABASE_URL, MANAGEMENT_PORT: '0' }).managementPort).toBeNull();
  });

  it('enable traces when a collector is named, unless they are disabled', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318';
    const endpointWith = (more: Record<string, string>) => loadSettings({ DATABASE_URL, ...more }).tracesEndpoint;
    expect(endpointWith({})).toBeNull();
    expect(endpointWith({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'false' })).toBe(OTEL_EXPORTER_OTLP_ENDPOINT);
    expect(endpointWith({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' })).toBeNull();
  });

  it('read secrets from files, in either form', () => {
    const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    try {
      const file = join(directory, 'url');
      writeFileSync(file, `${DATABASE_URL}\n`);
      expect(loadSettings({ DATABASE_URL_FILE: file }).databaseUrl).toBe(DATABASE_URL);
      expect(faultsOf({ DATABASE_URL_FILE: file, DATABASE_URL })).toHaveLength(1);
      expect(faultsOf({ DATABASE_URL_FILE: join(directory, 'none') })).toContain(
        'DATABASE_URL_FILE names a file that cannot be read (ENOENT)',
      );
      expect(faultsOf({ REDIS_URL_FILE: makeFifo(join(directory, 'pipe')) })).toContain(
        'REDIS_URL_FILE names a file that cannot be read (not a regular file)',
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
