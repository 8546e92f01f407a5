import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missingSessionSettings } from '#libs/platform/database';
import type { ApiClient } from '../support/api-client';
import { openDataSource } from '../support/database-connection';
import { PgBouncer, keepsPreparedStatements } from '../support/pgbouncer';
import { demandProgram } from '../support/programs.cjs';
import { type TestApp, startAppOn } from '../support/start-app';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const PROGRAM = demandProgram('pgbouncer');
const MODES = keepsPreparedStatements(PROGRAM) ? ['on', 'off'] : ['off'];

/** The statements of docs/scaling.md for this database. */
const roleSettings = (database: string): string[] =>
  [...readFileSync(join(__dirname, '../../docs/scaling.md'), 'utf8').matchAll(/^ALTER ROLE compliance_api .*;$/gm)].map(
    ([statement]) => statement.replace('IN DATABASE compliance ', `IN DATABASE ${database} `),
  );

describe.each(MODES)('With PgBouncer in transaction mode, prepared statements %s', (preparedStatements) => {
  let database: TestDatabase;
  let pgBouncer: PgBouncer;
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let assets: string[];
  beforeAll(async () => {
    database = await createTestDatabase();
    pgBouncer = await PgBouncer.before(database.databaseUrl, PROGRAM);
    const direct = await missingSettings(pgBouncer.url(database.databaseUrl));
    expect(direct).toContain('statement_timeout = 5s');
    const name = new URL(database.databaseUrl).pathname.slice(1);
    const statements = roleSettings(name);
    expect(statements).not.toEqual([]);
    for (const statement of statements) await database.admin.query(statement);
    await pgBouncer.stop();
    pgBouncer = await PgBouncer.before(database.databaseUrl, PROGRAM);
    app = await startAppOn(
      { ...database, databaseUrl: pgBouncer.url(database.databaseUrl) },
      { DATABASE_PREPARED_STATEMENTS: preparedStatements },
    );
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    assets = await app.arrange.manyAssets(workspace, 30);
  });
  afterAll(async () => {
    await app.stop();
    await pgBouncer.stop();
    await database.drop();
  });

  const missingSettings = async (url: string): Promise<string[]> => {
    const source = await openDataSource(url);
    return missingSessionSettings(source).finally(() => source.destroy());
  };
  const pathOf = (asset: string | undefined) => `/v1/inventory/assets/${asset}`;

  it('session settings apply once the role has them', async () => {
    expect(await missingSettings(pgBouncer.url(database.databaseUrl))).toEqual([]);
  });

  it('token requests issue and supersede', async () => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const tokens = [];
    while (tokens.length < 3) tokens.push((await app.client().requestToken(form)).body['access_token'] as string);
    const statuses = await Promise.all(
      tokens.map(async (token) => (await app.client(token).get(pathOf(assets[0]))).status),
    );
    expect(statuses).toEqual([401, 401, 200]);
  });

  it('concurrent walks return every asset once', async () => {
    const walks = await Promise.all(
      Array.from({ length: 12 }, () => client.walk('/v1/inventory/assets', { pageSize: '7' })),
    );
    for (const walk of walks) expect(walk.map(({ id }) => id).sort()).toEqual([...assets].sort());
    const stranger = await app.arrange.aClient(await app.arrange.aWorkspace());
    expect((await stranger.page('/v1/inventory/assets')).results).toEqual([]);
  });

  it('updates apply once, replay, and conflict on a reused key', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const send = (description: string) => client.patch(pathOf(assets[0]), { description }, key);
    const responses = await Promise.all(Array.from({ length: 12 }, () => send('once')));
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
    expect((await send('other')).body['code']).toBe('idempotency_conflict');
    expect((await client.get(pathOf(assets[0]))).body['description']).toBe('once');
  });

  it('overlapping bulk updates apply completely', async () => {
    const bulks = await Promise.all(
      ['a', 'b', 'c', 'd'].map((description) =>
        client.patch('/v1/inventory/assets', { ids: assets, patch: { description } }),
      ),
    );
    expect(bulks.map(({ body }) => body['successfulUpdates'])).toEqual([30, 30, 30, 30]);
    const described = new Set(
      (await client.walk('/v1/inventory/assets', { pageSize: '100' })).map(({ description }) => description),
    );
    expect(described.size).toBe(1);
  });
});
