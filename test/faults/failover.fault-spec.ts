import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { FailoverSetting } from './failover-setting';
import { FeedFollower } from './feed-follower';
import { type History, type Operation, keyHashOf } from './operation-log';
import { sized, tell } from './sizes';
import { tally } from './response-faults';

const ROUNDS = Array.from({ length: sized({ short: 1, long: 10 }) }, (_, n) => n + 1);
const LOAD_MS = sized({ short: 1_000, long: 5_000 });
/** With an asynchronous standby, the primary acknowledges commits for this long that nobody else has. */
const UNSENT_MS = 300;
const SENDERS = 8;
const ASSETS = 20;

describe.each(ROUNDS)('When the primary is killed and a standby is promoted (%d)', () => {
  let setting: FailoverSetting;
  let follower: FeedFollower;
  afterEach(() => setting.close());

  const operation = (assets: readonly string[], n: number): Operation => {
    const key = randomUUID();
    if (n % 10 === 0) {
      const ids = assets.filter((_, place) => place % 2 === n % 2);
      return { key, assets: ids, path: '/v1/inventory/assets', body: { ids, patch: { description: `bulk ${n}` } } };
    }
    const asset = assets[n % ASSETS] as string;
    const body = { description: `change ${n}`, tags: [{ key: n % 2 === 0 ? 'env' : 'team' }] };
    return { key, assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
  };

  /** Sends updates before, during and after the failover, each until it is acknowledged. Returns their histories. */
  const updateThroughout = async (failOver: (sent: () => number) => Promise<void>): Promise<Map<string, History>> => {
    const arrange = await setting.faults.enterWorkspace();
    const assets = await setting.faults.assets(arrange, ASSETS);
    for (const key of ['env', 'team']) await arrange.aTagKey(setting.faults.workspace, key);
    await setting.standbyHasAll();
    const client = setting.faults.client();
    follower = new FeedFollower(setting.faults.token, setting.faults.origins);
    follower.begin();
    let [sent, over] = [0, false];
    const sender = async (): Promise<void> => {
      while (!over) {
        sent += 1;
        await client.settle(operation(assets, sent), sent);
      }
    };
    const senders = Promise.all(Array.from({ length: SENDERS }, sender));
    await delay(LOAD_MS);
    await failOver(() => sent).finally(() => (over = true));
    await senders;
    await follower.end();
    await setting.faults.connect();
    return setting.faults.log.read();
  };
  /** Acknowledged, but missing in the database. */
  const lostOf = async (histories: ReadonlyMap<string, History>): Promise<Operation[]> => {
    const { rows } = await setting.faults.admin.query<{ hash: string }>(
      `SELECT encode(key_hash, 'hex') AS hash FROM idempotency_record`,
    );
    const kept = new Set(rows.map(({ hash }) => hash));
    return [...histories.values()].map((history) => history.operation).filter(({ key }) => !kept.has(keyHashOf(key)));
  };
  const operatorsAgree = async (): Promise<void> => {
    const [status, verdict] = await setting.askOperator();
    expect(status).toMatchObject({ counters: { wrong: [] } });
    expect(verdict).toMatchObject({ ok: true, firstBad: null });
  };

  it('no acknowledged update is lost or half applied with synchronous replication', async () => {
    setting = await FailoverSetting.open('synchronous');
    const histories = await updateThroughout(async () => {
      await setting.failOver();
      await delay(LOAD_MS);
    });
    const lost = await lostOf(histories);
    tell('failover to a synchronous standby', {
      keys: histories.size,
      lost: lost.length,
      ...tally(histories.values()),
    });
    expect(lost).toEqual([]);
    expect(await setting.faults.faults()).toEqual([]);
    expect(follower.refusal).toBeNull();
    expect(await follower.faults(setting.faults.admin, setting.faults.workspace)).toEqual([]);
  });

  it('nothing is half applied with asynchronous replication, and lost updates apply again under their keys', async () => {
    setting = await FailoverSetting.open('asynchronous');
    const histories = await updateThroughout(async (sent) => {
      await setting.holdBack();
      const last = sent();
      await delay(UNSENT_MS);
      // Later updates reach the follower, but not the standby.
      while (!follower.descriptions.some((one) => Number(one?.split(' ').at(-1)) > last)) await delay(20);
      await setting.failOver();
      await delay(LOAD_MS);
    });
    const lost = await lostOf(histories);
    // Earlier responses belong to the lost history.
    const heardAgain = new Map(histories);
    for (const { key } of lost) heardAgain.delete(key);
    expect(await setting.faults.faults({ histories: heardAgain })).toEqual([]);

    setting.faults.newLog();
    const client = setting.faults.client();
    for (const each of lost) {
      const responses = await Promise.all([client.settle(each, 0), client.settle(each, 1)]);
      expect(responses.filter(({ replayed }) => !replayed)).toHaveLength(1);
    }
    for (const [key, history] of setting.faults.log.read()) heardAgain.set(key, history);
    tell('failover to an asynchronous standby', { keys: histories.size, lost: lost.length });
    expect(lost.length).toBeGreaterThan(0);
    expect(follower.refusal).toEqual({ status: 410, code: 'cursor_expired' });
    expect(await setting.faults.faults({ histories: heardAgain })).toEqual([]);
    await operatorsAgree();
  });
});
