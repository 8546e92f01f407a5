import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../support/free-port';
import { killServer, signalServer } from '../support/postgres-processes';
import { TcpProxy } from '../support/tcp-proxy';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';
import { startTemporaryRedis } from '../support/temporary-redis';
import { FaultSetting } from './fault-setting';
import { MixedLoad } from './mixed-load';
import { IS_LONG, MINUTE, sized } from './sizes';

/** Clients of each reading and writing kind. With one that requests tokens, the long form has 50 clients. */
const CLIENTS = sized({ short: 4, long: 16 });
/** Longer than any wait, so that requests that waited at the start have ended. */
const SILENT_MS = 7_000;
const ALL = { list: CLIENTS, get: CLIENTS, write: CLIENTS, token: 1 };

type Case = readonly [
  what: string,
  fault: (setting: Setting) => Promise<void>,
  end: (setting: Setting) => Promise<unknown>,
];

const SILENT: Case = [
  'stops responding on every connection',
  ({ path }) => path.set('blackhole'),
  ({ path }) => path.set('forward'),
];
const REFUSING: Case = [
  'lets the API in no more',
  async ({ faults, role }) => {
    await faults.admin.query(`ALTER ROLE ${role} NOLOGIN`);
    await faults.admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  },
  ({ faults, role }) => faults.admin.query(`ALTER ROLE ${role} LOGIN`),
];
const FURTHER: readonly Case[] = [
  ['is killed', async ({ postgres }) => killServer(postgres.dataDir), ({ postgres }) => postgres.restart('immediate')],
  [
    'is frozen',
    async ({ postgres }) => signalServer(postgres.dataDir, 'SIGSTOP'),
    async ({ postgres }) => signalServer(postgres.dataDir, 'SIGCONT'),
  ],
  ['resets every connection', async (setting) => setting.resetAll(), async (setting) => setting.resetNoMore()],
];

/** Postgres behind a proxy that can fail, and one instance of the API. */
class Setting {
  private resetting: NodeJS.Timeout | null = null;

  private constructor(
    readonly postgres: TemporaryPostgres,
    readonly path: TcpProxy,
    readonly faults: FaultSetting,
    private readonly management: string,
  ) {}

  static async open(particulars: Readonly<Record<string, string>>): Promise<Setting> {
    // Keeps acknowledged commits even when it is killed.
    const postgres = await startTemporaryPostgres({ postgresSettings: { synchronous_commit: 'on' } });
    const path = await TcpProxy.to('127.0.0.1', postgres.port);
    const faults = await FaultSetting.open({ postgres, redis: await startTemporaryRedis() });
    const managementPort = String(await freePort());
    const databaseUrl = postgres.databaseUrl.replace(`:${postgres.port}/`, `:${path.port}/`);
    await faults.startInstances({ DATABASE_URL: databaseUrl, MANAGEMENT_PORT: managementPort, ...particulars });
    return new Setting(postgres, path, faults, `http://127.0.0.1:${managementPort}`);
  }

  get role(): string {
    return new URL(this.postgres.databaseUrl).username;
  }

  resetAll(): void {
    this.resetting = setInterval(() => this.path.forget(), 5);
  }

  resetNoMore(): void {
    if (this.resetting) clearInterval(this.resetting);
  }

  async saysReady(status: 200 | 503): Promise<void> {
    for (const deadline = Date.now() + 30_000; (await fetch(`${this.management}/readyz`)).status !== status;) {
      if (Date.now() > deadline) throw new Error(`/readyz does not come to ${status}`);
      await delay(100);
    }
  }

  async close(): Promise<void> {
    await MixedLoad.abandonAll();
    this.resetNoMore();
    await this.faults.close();
    await this.path.close();
  }
}

describe.each([['with Redis', {}], ...(IS_LONG ? [['without Redis', { REDIS_URL: '' }] as const] : [])] as const)(
  'While Postgres is unusable, %s,',
  (_how, particulars) => {
    let setting: Setting;
    beforeAll(async () => {
      setting = await Setting.open(particulars);
    }, MINUTE);
    afterAll(() => setting.close(), MINUTE);

    it.each([SILENT, REFUSING, ...(IS_LONG ? FURTHER : [])])(
      'because it %s, requests get 503 within five seconds, readiness fails, and both recover at once',
      async (what, begin, end) => {
        const { faults } = setting;
        const clients = { readers: CLIENTS, writers: CLIENTS };
        const load = await MixedLoad.begin(faults, await faults.enterWorkspace(), clients);
        await load.until('before', 'ok', ALL);
        await begin(setting);
        await load.until(what, 'service_unavailable', ALL);
        await setting.saysReady(503);
        if (what !== REFUSING[0]) await load.during(what, SILENT_MS);
        await end(setting);
        await load.until('afterwards', 'ok', ALL);
        await setting.saysReady(200);
        await faults.connect();
        await load.end();
        expect(load.faults).toEqual([]);
        expect(await faults.faults()).toEqual([]);
      },
      2 * MINUTE,
    );
  },
);
