import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { shownFile } from '../support/doc-examples';
import { installPackedClient } from '../support/packed-client';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';
import { AWAITED_LOCKS, type TestDatabase, createTestDatabase } from '../support/test-database';
import { until } from '../support/until';

const PAGE = 'connectors/nodejs.md';

let app: TestApp;
let directory: string;
let workspace: string;
let environment: Record<string, string>;
beforeAll(async () => {
  app = await startApp();
  directory = mkdtempSync(join(tmpdir(), 'compliance-connectors-'));
  installPackedClient(directory, ['pg']);
}, 240_000);
afterAll(async () => {
  await app.stop();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  workspace = await app.arrange.aWorkspace();
  await app.arrange.manyAssets(workspace, 1_500);
  const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
  const PATH = process.env['PATH'] ?? '';
  environment = { PATH, BASE_URL: app.origin, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
});

describe('warehouse.mjs', () => {
  let warehouse: TestDatabase;
  beforeAll(async () => {
    warehouse = await createTestDatabase({ migrated: false });
    writeFileSync(join(directory, 'warehouse.mjs'), shownFile(PAGE, 'warehouse.mjs'));
  });
  afterAll(() => warehouse.drop());
  beforeEach(() => warehouse.admin.query('DROP TABLE IF EXISTS asset, feed'));

  const load = async (): Promise<string> => {
    const env = { ...environment, WAREHOUSE_URL: warehouse.migrationDatabaseUrl };
    const options = { cwd: directory, env, timeout: 100_000 };
    return (await promisify(execFile)(process.execPath, ['warehouse.mjs'], options)).stdout;
  };
  const bodies = async (): Promise<unknown[]> =>
    (await warehouse.admin.query<{ body: unknown }>('SELECT body FROM asset ORDER BY id')).rows.map(({ body }) => body);
  const listed = async (): Promise<unknown[]> => {
    const reader = await app.arrange.aClient(workspace);
    const found: { id: string }[] = [];
    for (let cursor = ''; ;) {
      const { body } = await reader.get(`/v1/inventory/assets?pageSize=100${cursor}`);
      const { results, pageInfo } = body as unknown as {
        results: { id: string }[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
      found.push(...results);
      if (!pageInfo.hasNextPage) return found.sort((one, other) => (one.id < other.id ? -1 : 1));
      cursor = `&pageCursor=${pageInfo.endCursor}`;
    }
  };
  const aChange = async (): Promise<void> => {
    const { id } = await app.arrange.anAsset(workspace, { name: 'new' });
    const removed = await app.arrange.anAsset(workspace, { name: 'soon removed' });
    await load();
    await app.arrange.change(workspace, "UPDATE asset SET name = 'renamed' WHERE public_id = $1", [id]);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 2 WHERE public_id = $1', [removed.id]);
  };

  it('loads every asset, and then only what changed', async () => {
    expect(await load()).toBe('1500 changes\n');
    expect(await bodies()).toEqual(await listed());
    await aChange();

    expect(await load()).toBe('2 changes\n');

    expect(await bodies()).toEqual(await listed());
    expect(await load()).toBe('0 changes\n');
  });

  it('continues behind the last page that it stored when it is killed', async () => {
    await load();
    await warehouse.admin.query('TRUNCATE asset, feed');
    await warehouse.admin.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO feed VALUES ('other', ''); RETURN NULL; END $$`);
    await warehouse.admin.query('CREATE TRIGGER hold AFTER UPDATE ON feed FOR EACH ROW EXECUTE FUNCTION hold()');
    // In the middle of its second page the program waits for this row.
    const holder = new Client(warehouse.migrationDatabaseUrl);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query("INSERT INTO feed VALUES ('other', '')");
    const env = { ...environment, WAREHOUSE_URL: warehouse.migrationDatabaseUrl };
    const program = spawn(process.execPath, ['warehouse.mjs'], { cwd: directory, env });
    await waiting();
    program.kill('SIGKILL');
    await once(program, 'close');
    await holder.query('ROLLBACK');
    await holder.end();
    await warehouse.admin.query('DROP FUNCTION hold CASCADE');
    const { length } = await bodies();
    expect(length).toBeGreaterThan(0);

    expect(await load()).toBe(`${1_500 - length} changes\n`);

    expect(await bodies()).toEqual(await listed());
  });

  const waiting = (): Promise<void> =>
    until(async () => (await warehouse.admin.query(`SELECT FROM ${AWAITED_LOCKS}`)).rowCount !== 0);

  it('loads everything again when its cursor is refused', async () => {
    await aChange();
    await warehouse.admin.query("INSERT INTO asset VALUES (gen_random_uuid(), '{}')");
    await app.database.admin.query('UPDATE change_head SET restarted_sequence = sequence + 1');
    await app.arrange.anAsset(workspace);

    expect(await load()).toBe('1502 changes\n');

    expect(await bodies()).toEqual(await listed());
  });
});

describe('forward.mjs', () => {
  const taken: { action: string; target: unknown }[] = [];
  let sealing: Sealing;
  let refusals = 0;
  let siem: Server;
  beforeAll(async () => {
    writeFileSync(join(directory, 'forward.mjs'), shownFile(PAGE, 'forward.mjs'));
    siem = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const isRefused = (refusals -= 1) >= 0;
        if (!isRefused)
          taken.push(
            ...body
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line) as (typeof taken)[0]),
          );
        response.writeHead(isRefused ? 503 : 204).end();
      });
    }).listen(0, '127.0.0.1');
    await once(siem, 'listening');
    sealing = await Sealing.of(app);
  });
  afterAll(async () => {
    siem.close();
    await sealing.close();
  });

  const start = (): ChildProcess => {
    const env = { ...environment, SIEM_URL: `http://127.0.0.1:${(siem.address() as AddressInfo).port}` };
    return spawn(process.execPath, ['forward.mjs'], { cwd: directory, env, stdio: 'ignore' });
  };
  const exitCode = async (program: ChildProcess): Promise<unknown> => ((await once(program, 'exit')) as unknown[])[0];

  it('sends events from its first start on, and sends again what was refused', async () => {
    const { id } = await app.arrange.anAsset(workspace, { name: 'new' });
    const writer = await app.arrange.aClient(workspace);
    await writer.patch(`/v1/inventory/assets/${id}`, { description: 'Before the first start' });
    await sealing.seal();
    const first = start();
    await until(async () => existsSync(join(directory, 'cursor')));
    first.kill('SIGTERM');
    expect(await exitCode(first)).toBe(0);
    await writer.patch(`/v1/inventory/assets/${id}`, { description: 'After it' });
    await sealing.seal();
    refusals = 1;

    expect(await exitCode(start())).toBe(1);
    const third = start();
    await until(async () => taken.length > 0);
    third.kill('SIGTERM');

    expect(await exitCode(third)).toBe(0);
    const target = { type: 'ASSET', id };
    const changes = [{ field: 'description', old: 'Before the first start', new: 'After it' }];
    expect(taken).toEqual([expect.objectContaining({ action: 'asset.updated', target, changes })]);
  });

  it('ends when it cannot read its cursor, and does not begin now', async () => {
    const cursor = join(directory, 'cursor');
    rmSync(cursor, { force: true });
    mkdirSync(cursor);

    expect(await exitCode(start())).toBe(1);

    expect(existsSync(`${cursor}.new`)).toBe(false);
  });
});
