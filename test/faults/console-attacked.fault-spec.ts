/** @quiet It measures delays. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, get } from 'node:http';
import { join } from 'node:path';
import { ApiProcess } from '../support/api-process';
import { ApiUnderWatch } from '../support/api-under-watch';
import { freePort } from '../support/free-port';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { MINUTE, sized, tell } from './sizes';

const CONNECTIONS = 200;
const SAMPLES = sized({ short: 100, long: 1_000 });
/** The attack and both processes share the cores of one machine here. */
const MOST_TIMES = 10;
const MOST_MS = 250;
/** Its pool of four and the probe of readiness. */
const CONNECTIONS_OF_CONSOLE = 5;

/** The API shares no process and no pool with the console. */
describe('While the console is under attack, and after it is gone', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let console: ApiProcess;
  let origin: string;
  let token: string;
  let cookie: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database);
    const [port, managementPort] = [String(await freePort()), String(await freePort())];
    origin = `http://127.0.0.1:${port}`;
    const settings = { CONSOLE_PORT: port, CONSOLE_MANAGEMENT_PORT: managementPort, LOG_LEVEL: 'info' };
    const local = { LOCAL_DIR: process.env['TEST_LOCAL_DIR'] as string, NODE_ENV: 'test' };
    console = new ApiProcess(
      { CONSOLE_DATABASE_URL: database.consoleDatabaseUrl, ...settings, ...local },
      'pipe',
      'console',
    );
    await console.serving();
    const workspace = await api.arrange.aWorkspace();
    for (let made = 0; made < 25; made += 1) await api.arrange.anAsset(workspace);
    token = await api.arrange.aToken(workspace);
    const secret = 'x'.repeat(43);
    cookie = `console_session=${workspace}.${secret}`;
    await api.arrange.change(
      workspace,
      `WITH viewer AS (INSERT INTO person (workspace_id, email, name, role) VALUES ($1, 'v@example.com', 'V', 'viewer')
                       RETURNING id)
       INSERT INTO console_session (workspace_id, digest, person_id)
       SELECT $1, sha256(convert_to($2, 'UTF8')), id FROM viewer`,
      [workspace, secret],
    );
    await times();
  }, 2 * MINUTE);
  afterAll(async () => {
    await console.kill();
    await api.stop();
    await database.drop();
  });

  const times = async (): Promise<number> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const taken: number[] = [];
    for (let asked = 0; asked < SAMPLES; asked += 1) {
      const since = performance.now();
      const headers = { Authorization: `Bearer ${token}` };
      const sent = get({ port: api.port, path: '/v1/inventory/assets?pageSize=25', agent, headers });
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      expect(response.statusCode).toBe(200);
      taken.push(performance.now() - since);
    }
    agent.destroy();
    return taken.sort((one, other) => one - other)[SAMPLES / 2] as number;
  };

  it(
    'the API answers as before',
    async () => {
      const before = await times();
      expect((await fetch(origin, { headers: { Cookie: cookie }, redirect: 'manual' })).status).toBe(200);

      const hammer: ChildProcess = spawn(process.execPath, [
        ...[join(__dirname, 'console-hammer.mjs'), origin, String(CONNECTIONS), cookie],
      ]);
      await once(hammer.stdout as NodeJS.ReadableStream, 'data');
      const during = await times();
      const { rows } = await database.admin.query<{ connections: number }>(
        `SELECT count(*)::int AS connections FROM pg_stat_activity
          WHERE datname = current_database() AND usename = $1`,
        [new URL(database.consoleDatabaseUrl).username],
      );
      await console.kill();
      const after = await times();
      hammer.kill('SIGKILL');

      tell('p50 in ms', { before: before.toFixed(1), during: during.toFixed(1), after: after.toFixed(1) });
      expect(rows[0]?.connections).toBeGreaterThan(0);
      expect(rows[0]?.connections).toBeLessThanOrEqual(CONNECTIONS_OF_CONSOLE);
      for (const median of [during, after]) expect(median).toBeLessThanOrEqual(Math.max(MOST_TIMES * before, MOST_MS));
    },
    2 * MINUTE,
  );
});
