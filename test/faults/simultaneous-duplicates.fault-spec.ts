import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startTemporaryRedis } from '../support/temporary-redis';
import { FaultSetting } from './fault-setting';
import { HeldLock, busyConnections, lockWaits } from './held-lock';
import { type Operation } from './operation-log';
import { type Instance } from './instance';
import { sized, tell } from './sizes';

const SENDS = sized({ short: 200, long: 1_000 });
const DUPLICATES = 40;
const LOCK_MS = 1_500;
const POOL_SIZE = 10;

const WITH_REDIS = { DATABASE_POOL_SIZE: String(POOL_SIZE) };
const WITHOUT_REDIS = { ...WITH_REDIS, REDIS_URL: '' };

describe('One idempotency key sent many times at once', () => {
  let setting: FaultSetting;
  let all: Instance[];
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    all = await setting.startInstances(WITH_REDIS, WITH_REDIS, WITHOUT_REDIS, WITHOUT_REDIS);
  });
  afterAll(() => setting.close());
  afterEach(() => HeldLock.releaseAll());

  const groups: [string, (instances: readonly Instance[]) => readonly Instance[]][] = [
    ['one instance', (instances) => instances.slice(0, 1)],
    ['two instances with one Redis', (instances) => instances.slice(0, 2)],
    ['two instances without Redis', (instances) => instances.slice(2, 4)],
    ['instances of which only some have Redis', (instances) => instances],
  ];

  const anUpdate = (asset: string): Operation => ({
    key: randomUUID(),
    assets: [asset],
    path: `/v1/inventory/assets/${asset}`,
    body: { description: 'once' },
  });
  const sendAll = async (operation: Operation, instances: readonly Instance[], count: number) => {
    const client = setting.client();
    setting.log.sent(operation);
    const sends = Array.from({ length: count }, (_, n) =>
      client.attempt(operation, (instances[n % instances.length] as Instance).origin),
    );
    return Promise.all(sends);
  };

  it.each(groups)('to %s applies once, and the others get the same response as replays', async (_name, choose) => {
    const [asset = ''] = await setting.assets(await setting.enterWorkspace(), 1);
    const since = performance.now();
    const attempts = await sendAll(anUpdate(asset), choose(all), SENDS);
    tell(`one key to ${_name}`, { sends: SENDS, milliseconds: Math.round(performance.now() - since) });
    const refused = attempts.filter((attempt) => attempt.kind === 'lost' || attempt.status !== 200);
    expect(refused).toEqual([]);
    expect(attempts.filter((attempt) => attempt.kind === 'response' && !attempt.replayed)).toHaveLength(1);
    expect(await setting.faults()).toEqual([]);
  });

  it.each(groups.slice(1, 3))(
    'to %s holds no database connection while the first one waits, and reads continue',
    async (_name, choose) => {
      const instances = choose(all);
      const arrange = await setting.enterWorkspace();
      const [asset = '', other = ''] = await setting.assets(arrange, 2);
      const reader = new Reader(setting.token, instances[0] as Instance, other);
      const before = await reader.read(25);

      const lock = await HeldLock.onAsset(setting, asset);
      const sends = sendAll(anUpdate(asset), instances, DUPLICATES);
      await lock.isWaitedFor();
      const until = Date.now() + LOCK_MS;
      const watched = watchConnections(setting, until);
      const during = await reader.read(25);
      const { waits, busy } = await watched;
      await lock.release();

      const attempts = await sends;
      tell(`duplicates of a slow update to ${_name}`, { before: median(before), during: median(during), waits, busy });
      // One waits for the row; another may just have asked for the key.
      expect(waits).toBe(1);
      expect(busy).toBeLessThanOrEqual(1 + 2 * instances.length);
      expect(median(during)).toBeLessThan(sized({ short: LOCK_MS / 2, long: 20 + 5 * median(before) }));
      expect(attempts.filter((attempt) => attempt.kind === 'response' && attempt.status === 200)).toHaveLength(
        DUPLICATES,
      );
      expect(await setting.faults()).toEqual([]);
    },
  );
});

/** Returns the maximum number of connections that waited for a lock, and that were active, until this time. */
async function watchConnections(setting: FaultSetting, until: number): Promise<{ waits: number; busy: number }> {
  const most = { waits: 0, busy: 0 };
  for (; Date.now() < until; await delay(10)) {
    most.waits = Math.max(most.waits, await lockWaits(setting.admin));
    most.busy = Math.max(most.busy, await busyConnections(setting.admin));
  }
  return most;
}

/** A client that is unrelated to the update. */
class Reader {
  constructor(
    private readonly token: string,
    private readonly instance: Instance,
    private readonly asset: string,
  ) {}

  /** Sends reads in sequence and returns their milliseconds. */
  async read(count: number): Promise<number[]> {
    const times: number[] = [];
    while (times.length < count) {
      const since = performance.now();
      const response = await fetch(`${this.instance.origin}/v1/inventory/assets/${this.asset}`, {
        headers: { Authorization: `Bearer ${this.token}` },
      });
      await response.text();
      if (response.status !== 200) throw new Error(`read: ${response.status}`);
      times.push(performance.now() - since);
    }
    return times;
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}
