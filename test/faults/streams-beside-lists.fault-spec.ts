import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiUnderWatch } from '../support/api-under-watch';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { IS_LONG, MINUTE, sized, tell } from './sizes';

const ROOT = join(__dirname, '../..');
const ASSETS = '/v1/inventory/assets';
const ROWS = sized({ short: 30_000, long: 300_000 });
const DESCRIPTION_LENGTH = 300;
const SAMPLES = sized({ short: 60, long: 300 });
const EVENTS = '/v1/audit-events';
/** Enough for ten seconds of reading. */
const EVENT_COUNT = 30_000;
const STREAMS = IS_LONG
  ? ([
      [1, ASSETS],
      [2, ASSETS],
      [5, ASSETS],
      [10, ASSETS],
      [10, EVENTS],
    ] as const)
  : ([[10, ASSETS]] as const);
/** How long a list may take beside streams, with room for a busy machine in the short form. */
const MOST_TIMES = sized({ short: 10, long: 5 });
const MOST_MS = sized({ short: 250, long: 50 });

/** Streams of one instance do not starve its other clients. */
describe('Lists beside streams', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let workspace: string;
  let token: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database);
    workspace = await api.arrange.aWorkspace();
    await api.arrange.manyAssets(workspace, ROWS, DESCRIPTION_LENGTH);
    await database.admin.query('VACUUM ANALYZE asset');
    token = await api.arrange.aToken(workspace);
    if (IS_LONG) await makeEvents();
    await medianOfLists();
  }, 10 * MINUTE);
  afterAll(async () => {
    await api.stop();
    await database.drop();
  });

  const makeEvents = async (): Promise<void> => {
    const { results } = (await api.client(token).get(`${ASSETS}?pageSize=100`)).body as { results: { id: string }[] };
    const ids = results.map(({ id }) => id);
    for (let made = 0; made < EVENT_COUNT; made += ids.length) {
      const patch = { description: `${made} ${'text '.repeat(DESCRIPTION_LENGTH / 5)}` };
      expect((await api.client(token).patch(ASSETS, { ids, patch })).status).toBe(200);
    }
    const waiting = 'SELECT FROM audit_event WHERE sequence IS NULL LIMIT 1';
    while ((await database.admin.query(waiting)).rowCount !== 0) await delay(200);
    await database.admin.query('VACUUM ANALYZE');
  };

  const medianOfLists = async (): Promise<number> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const times: number[] = [];
    for (let asked = 0; asked < SAMPLES; asked += 1, await delay(5)) times.push(await timeOfList(agent));
    agent.destroy();
    return times.sort((one, other) => one - other)[SAMPLES / 2] as number;
  };

  const timeOfList = async (agent: Agent): Promise<number> => {
    const since = performance.now();
    const headers = { Authorization: `Bearer ${token}` };
    const sent = get({ port: api.port, path: `${ASSETS}?pageSize=25`, agent, headers });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    expect(response.statusCode).toBe(200);
    return performance.now() - since;
  };

  it.each(STREAMS)(
    'are hardly slower beside %s of %s',
    async (streams, path) => {
      const idle = await medianOfLists();
      const tokens: string[] = [];
      for (let stream = 0; stream < streams; stream += 1) tokens.push(await api.arrange.aToken(workspace));

      const readers = await Readers.come(api.port, path, tokens);
      const [before, since] = [await rowsSent(), performance.now()];
      const busy = await medianOfLists();
      const rows = Math.round(((await rowsSent()) - before) / ((performance.now() - since) / 1_000));
      await readers.leave();

      tell(`lists beside ${streams} streams of ${path}`, {
        'idle ms': idle.toFixed(1),
        ms: busy.toFixed(1),
        'rows a second': rows,
      });
      expect(rows).toBeGreaterThan(0);
      expect(busy).toBeLessThanOrEqual(Math.min(MOST_MS, Math.max(MOST_TIMES * idle, 5)));
    },
    2 * MINUTE,
  );

  const rowsSent = async (): Promise<number> => (await api.samples()).get('compliance_stream_rows_total') ?? 0;
});

/** Clients that read streams without end, from a separate process. */
class Readers {
  private said = '';

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
  }

  static async come(port: number, path: string, tokens: readonly string[]): Promise<Readers> {
    const register = ['--conditions=source', '-r', './test/support/typescript-register.cjs'];
    const words = [...register, join(__dirname, 'stream-readers.ts'), String(port), path, ...tokens];
    const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
    const readers = new Readers(child);
    while (readers.said.split('begun').length <= tokens.length && child.exitCode === null) await delay(20);
    return readers;
  }

  async leave(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}
