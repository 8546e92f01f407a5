import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runAdmin } from '../support/admin-command';
import { expectFault } from '../support/finished-command';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { RunningCommand } from '../support/running-command';
import { SPECIFIED_LIMITS, type TestApp, startApp, startInstance } from '../support/start-app';

describe('admin applications on an existing application', () => {
  let app: TestApp;
  let environment: Record<string, string>;
  let form: { grant_type: string; client_id: string; client_secret: string };
  beforeAll(async () => {
    app = await startApp({ ...SPECIFIED_LIMITS, REDIS_URL: redisOfTheRun() });
    environment = {
      DATABASE_URL: app.database.databaseUrl,
      MIGRATION_DATABASE_URL: app.database.migrationDatabaseUrl,
      LOCAL_DIR: app.settings.localDir,
    };
    const { clientId, clientSecret } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    await app.stop();
  });

  const run = (verb: string, ...words: string[]) =>
    runAdmin(['applications', verb, form.client_id, ...words, '--json'], {
      ...environment,
      REDIS_URL: redisOfTheRun(),
    });
  const document = async (verb: string, ...words: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, stdout, stderr } = await run(verb, ...words);
    expect([exitCode, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const token = async (secret = form.client_secret) => app.client().requestToken({ ...form, client_secret: secret });

  it('takes effect on the next request', async () => {
    const client = app.client((await token()).body['access_token'] as string);
    const limit = async () => (await client.get('/v1/computers')).headers.get('x-ratelimit-limit');
    const write = () =>
      client.patch(`/v1/inventory/assets/${randomUUID()}`, { description: 'x' }, { 'Idempotency-Key': randomUUID() });
    await document('set-limits', '--read', '500/1000', '--token', '60/30');
    // Limits that are not named stay.
    expect(await document('set-limits', '--write', '7/9')).toMatchObject({
      client_id: form.client_id,
      limits: { read: '500/1000', token: '60/30', write: '7/9' },
    });
    expect(await limit()).toBe('1000');
    expect((await write()).headers.get('x-ratelimit-limit')).toBe('9');
    expect(await document('clear-limits')).toMatchObject({ limits: {} });
    expect(await limit()).toBe('100');
    expect(await document('set-scopes', '--scope', 'inventory:read')).toMatchObject({ scopes: ['inventory:read'] });
    expect((await client.get('/v1/computers')).body['code']).toBe('insufficient_scope');
  });

  it('takes effect on the next request even when the command has no REDIS_URL', async () => {
    const instance = await startInstance(app, {
      ...SPECIFIED_LIMITS,
      REDIS_URL: redisOfTheRun(),
    });
    try {
      const { clientId, clientSecret } = await app.arrange.anApplication(await app.arrange.aWorkspace());
      const own = { ...form, client_id: clientId, client_secret: clientSecret };
      const client = instance.client((await instance.client().requestToken(own)).body['access_token'] as string);
      const read = async () => (await client.get('/v1/computers?pageSize=1')).body['code'];
      let changed = false;
      const words = ['applications', 'set-scopes', clientId, '--scope', 'inventory:read'];
      const change = new RunningCommand('apps/admin/run.mjs', words, environment).finished.finally(
        () => (changed = true),
      );
      // Requests keep the cached grant fresh at every moment.
      const before: unknown[] = [];
      while (!changed) {
        before.push(await read());
        await delay(100);
      }
      expect((await change).exitCode).toBe(0);
      expect(await read()).toBe('insufficient_scope');
      expect(before[0]).toBeUndefined();
    } finally {
      await instance.stop();
    }
  });

  it('rotates the secret with or without an overlap, and shows the new secret once', async () => {
    const overlapping = await document('rotate-secret', '--overlap', '24h');
    const inADay = Date.parse(overlapping['previousSecretExpiresAt'] as string) - Date.now();
    expect(Object.keys(overlapping)).toEqual(['client_id', 'client_secret', 'previousSecretExpiresAt']);
    expect(Math.round(inADay / 3_600_000)).toBe(24);
    expect((await token()).status).toBe(200);
    const live = (await token(overlapping['client_secret'] as string)).body['access_token'] as string;
    expect(await document('rotate-secret')).toMatchObject({ previousSecretExpiresAt: null });
    expect((await app.client(live).get('/v1/inventory/assets')).body).toMatchObject({
      code: 'token_superseded',
      // The detail must also fit a rotation without a newer token.
      detail: 'A newer token was issued for this application, or its secret was rotated.',
    });
    expect((await token(overlapping['client_secret'] as string)).body['code']).toBe('invalid_client');
  });

  it('shows when each secret was used, ends the old one, and deletes what is disabled', async () => {
    form = { ...form, client_secret: (await document('rotate-secret'))['client_secret'] as string };
    const rotated = await document('rotate-secret', '--overlap', '24h');
    const live = (await token()).body['access_token'] as string;
    form = { ...form, client_secret: rotated['client_secret'] as string };
    const time = expect.stringMatching(/^20.*Z$/) as string;
    const { credentials } = await document('show');
    expect(credentials).toEqual([
      { type: 'SECRET', id: 'current', createdAt: time, lastUsedAt: null, expiresAt: null },
      { type: 'SECRET', id: 'previous', createdAt: time, lastUsedAt: time, expiresAt: time },
    ]);

    expect((await run('end-secret')).exitCode).toBe(2);
    expect((await document('end-secret', '--old'))['credentials']).toHaveLength(1);
    expect((await app.client(live).get('/v1/me')).body['code']).toBe('token_superseded');

    const newest = (await token()).body['access_token'] as string;
    expectFault(await run('delete', '--yes'), 1, /is enabled. Disable it first/);
    await document('disable');
    expectFault(await run('delete'), 2, /add --yes/);
    expect(await document('delete', '--yes')).toEqual({ client_id: form.client_id, deleted: true });
    expect((await app.client(newest).get('/v1/me')).body['code']).toBe('token_invalid');
    expect((await token()).body['code']).toBe('invalid_client');
    expectFault(await run('delete', '--yes'), 1, /no application/);
    const { rows } = await app.database.admin.query<{ action: string }>(
      'SELECT action FROM audit_event WHERE target_id = $1 ORDER BY id DESC LIMIT 3',
      [form.client_id],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'application.deleted',
      'application.disabled',
      'application.secret_ended',
    ]);
    const { clientId, clientSecret } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    form = { ...form, client_id: clientId, client_secret: clientSecret };
  });

  it('escapes control characters in the name of what it deleted', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(
      `UPDATE application SET disabled = true, name = 'SIEM' || chr(27) || '[2J' WHERE client_id = $1`,
      [clientId],
    );

    const { stdout } = await runAdmin(['applications', 'delete', clientId, '--yes'], {
      ...environment,
      REDIS_URL: redisOfTheRun(),
    });

    expect(stdout).toBe('Deleted "SIEM\\u{1b}[2J".\n');
  });

  it('issues no secret while the pepper is too short', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    try {
      const SECRET_PEPPER_FILE = join(directory, 'pepper');
      for (const pepper of ['', 'x'.repeat(15)]) {
        writeFileSync(SECRET_PEPPER_FILE, pepper);
        const words = ['applications', 'rotate-secret', form.client_id];
        const refused = await runAdmin(words, { ...environment, SECRET_PEPPER_FILE });
        expectFault(refused, 1, /SECRET_PEPPER_FILE names .* which holds less than 16 bytes/);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('exits 2 for wrong usage and 1 for an unknown client id', async () => {
    for (const words of [
      ['set-limits'],
      ['set-limits', '--read', '0/5'],
      ['set-limits', '--token', '5'],
      ['set-scopes'],
      ['set-scopes', '--scope', 'inventory:delete'],
      ['rotate-secret', '--overlap', '1y'],
    ]) {
      const [verb = '', ...others] = words;
      expect([words, (await run(verb, ...others)).exitCode]).toEqual([words, 2]);
    }
    form = { ...form, client_id: 'ci_nobody' };
    for (const [verb = '', ...words] of [
      ['clear-limits'],
      ['set-limits', '--read', '5/6'],
      ['set-scopes', '--scope', 'all:read'],
      ['rotate-secret'],
    ]) {
      expect([verb, (await run(verb, ...words)).exitCode]).toEqual([verb, 1]);
    }
  });
});
