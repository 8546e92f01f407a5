import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FailoverSetting } from '../faults/failover-setting';
import { FaultSetting } from '../faults/fault-setting';
import { MINUTE, tell } from '../faults/sizes';
import { StandbyPostgres } from '../support/standby-postgres';
import { startTemporaryPostgres } from '../support/temporary-postgres';
import { startTemporaryRedis } from '../support/temporary-redis';
import { RecordedLoad } from './recorded-load';

const OPERATIONS = Number(process.env['OPERATIONS'] ?? 50_000);
const PICTURES = join(__dirname, '../../test-results/linearizable');
/** As in production: acknowledged commits are on disk. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

/** Runs the judge. Returns what it refuses. */
function go(...words: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync('go', words, { cwd: __dirname, encoding: 'utf8' });
  if (error) throw new Error(`The judge needs Go (https://go.dev/dl): ${error.message}`);
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** Sends the load under faults, and judges it. */
async function judged(name: string, load: RecordedLoad, faults: readonly (() => Promise<unknown>)[]): Promise<string> {
  let [over, turn] = [false, 0];
  const send = load.send().finally(() => (over = true));
  const disturb = async (): Promise<void> => {
    for (; !over; turn += 1) await faults[turn % faults.length]?.();
  };
  await Promise.all([send, disturb()]);
  tell(name, { operations: load.operations, turns: turn });
  mkdirSync(PICTURES, { recursive: true });
  return go('run', '.', load.file, PICTURES);
}

describe('Each response is explained by one order of all operations on its asset or token', () => {
  let close: () => Promise<void>;
  afterEach(() => close?.());

  it('and the judge refuses planted faults', () => {
    expect(go('test', '.')).toBe('');
  });

  it(
    'while instances are killed, Postgres crashes and Redis is lost',
    async () => {
      const postgres = await startTemporaryPostgres({ postgresSettings: DURABLE });
      const setting = await FaultSetting.open({ postgres, redis: await startTemporaryRedis() });
      close = () => setting.close();
      const [one, two, three] = await setting.startInstances({}, {}, {});
      const load = await RecordedLoad.arrange(setting, { operations: OPERATIONS * 0.6 });
      const { redis } = setting;
      const kill = async (instance: typeof one) => {
        await instance?.kill();
        await instance?.startAgain();
        await delay(300);
      };
      const refused = await judged('killed, crashed, lost', load, [
        () => kill(one),
        () => redis.freeze().then(() => delay(Math.random() * 400)),
        () => redis.thaw().then(() => delay(1_500)),
        () => kill(two),
        () => redis.end('SIGKILL').then(() => kill(three)),
        () => redis.startAgain().then(() => delay(1_500)),
        () => postgres.restart('immediate', 300).then(() => delay(1_500)),
        () => redis.flush().then(() => delay(300)),
      ]);
      expect(refused).toBe('');
    },
    30 * MINUTE,
  );

  it(
    'while the primary is killed and a standby promoted',
    async () => {
      const setting = await FailoverSetting.open('synchronous');
      close = () => setting.close();
      const load = await RecordedLoad.arrange(setting.faults, { operations: OPERATIONS * 0.2 });
      await setting.standbyHasAll();
      let done = false;
      const refused = await judged('failover', load, [
        () => delay(2_000),
        async () => {
          if (!done) await setting.failOver();
          done = true;
        },
      ]);
      expect(done).toBe(true);
      expect(refused).toBe('');
    },
    10 * MINUTE,
  );

  it(
    'with reads from a standby: of five seconds before, and without gaps for a client that wrote within ten',
    async () => {
      const postgres = await startTemporaryPostgres();
      const setting = await FaultSetting.open({ postgres, redis: await startTemporaryRedis() });
      const standby = await StandbyPostgres.of(postgres, 'standby');
      close = async () => {
        await standby.stop();
        await setting.close();
      };
      const DATABASE_REPLICA_URLS = standby.url(postgres.databaseUrl);
      await setting.startInstances({ DATABASE_REPLICA_URLS }, { DATABASE_REPLICA_URLS });
      const load = await RecordedLoad.arrange(setting, { operations: OPERATIONS * 0.2, standby: true });
      await standby.caughtUp(postgres);
      const refused = await judged('standby', load, [
        () => standby.pauseReplay().then(() => delay(Math.random() * 9_000)),
        () => standby.resumeReplay().then(() => delay(1_000)),
      ]);
      expect(refused).toBe('');
    },
    10 * MINUTE,
  );
});
