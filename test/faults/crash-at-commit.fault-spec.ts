import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { TcpProxy } from '../support/tcp-proxy';
import { startTemporaryRedis } from '../support/temporary-redis';
import { FaultSetting } from './fault-setting';
import { HeldLock } from './held-lock';
import { type Attempt, type Operation } from './operation-log';
import { type PersistentClient } from './persistent-client';
import { type Instance } from './instance';

/** Maximum time when the lease of a dead instance must expire first. */
const LEASE_WAIT_MS = 20_000;
const AT_ONCE_MS = 2_900;

describe('An update that is cut off', () => {
  let setting: FaultSetting;
  let databaseProxy: TcpProxy;
  let clientProxy: TcpProxy;
  let first: Instance;
  let second: Instance;
  let client: PersistentClient;
  let operation: Operation;

  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    await HeldLock.armCommits(setting);
    const direct = new URL(setting.databases.databaseUrl);
    databaseProxy = await TcpProxy.to(direct.hostname, Number(direct.port));
    const proxied = new URL(direct);
    proxied.port = String(databaseProxy.port);
    [first, second] = (await setting.startInstances({ DATABASE_URL: proxied.toString() }, {})) as [Instance, Instance];
    clientProxy = await TcpProxy.to('127.0.0.1', Number(new URL(first.origin).port));
  });
  afterAll(async () => {
    await setting.close();
    await databaseProxy.close();
    await clientProxy.close();
  });

  beforeEach(async () => {
    const arrange = await setting.enterWorkspace();
    await arrange.aTagKey(setting.workspace, 'env');
    const [asset = ''] = await setting.assets(arrange, 1);
    client = setting.client();
    operation = {
      key: randomUUID(),
      assets: [asset],
      path: `/v1/inventory/assets/${asset}`,
      body: { description: 'cut off', classification: 'INTERNAL', tags: [{ key: 'env' }] },
    };
  });
  afterEach(async () => {
    await HeldLock.releaseAll();
    await databaseProxy.set('forward');
    await clientProxy.set('forward');
    if (!first.serving) await first.startAgain();
    expect(await setting.faults()).toEqual([]);
    expect(await applied()).toBe(true);
  });

  const send = (origin = first.origin): Promise<Attempt> => {
    setting.log.sent(operation);
    return client.attempt(operation, origin);
  };
  /** Tells whether the update was applied. @throws when only parts of it were */
  const applied = async (): Promise<boolean> => {
    const { rows } = await setting.admin.query<Record<string, boolean>>(
      `SELECT version = 2 AS version, description IS NOT NULL AS description, classification = 2 AS classification,
              tags <> '[]' AS tags, EXISTS (SELECT FROM asset_tag WHERE asset_id = asset.id) AS tag_rows,
              EXISTS (SELECT FROM audit_event WHERE asset_id = public_id) AS audit,
              EXISTS (SELECT FROM idempotency_record WHERE workspace_id = asset.workspace_id) AS record
         FROM asset WHERE public_id = $1`,
      [operation.assets[0]],
    );
    const parts = new Set(Object.values(rows[0] ?? {}));
    if (parts.size !== 1) throw new Error(`half applied: ${JSON.stringify(rows[0])}`);
    return parts.has(true);
  };
  const isApplied = async (): Promise<void> => {
    for (const deadline = Date.now() + 30_000; !(await applied()); await delay(10)) {
      if (Date.now() > deadline) throw new Error('not committed');
    }
  };
  const killFirst = async (sent: Promise<Attempt>): Promise<void> => {
    await first.kill();
    expect(await sent).toMatchObject({ kind: 'lost' });
  };

  describe('before COMMIT, because its instance is killed', () => {
    it.each([
      ['when the lease has run out', LEASE_WAIT_MS, () => Promise.resolve()],
      ['at once when Redis has forgotten the lease', AT_ONCE_MS, () => setting.redis.flush()],
    ])('changes nothing, and another instance accepts its key %s', async (_when, limit, prepare) => {
      const lock = await HeldLock.onAsset(setting, operation.assets[0] as string);
      const sent = send();
      await lock.isWaitedFor();
      await killFirst(sent);
      await lock.release();
      await prepare();
      expect(await applied()).toBe(false);
      const since = performance.now();
      expect(await send(second.origin)).toMatchObject({ status: 200, replayed: false });
      expect(performance.now() - since).toBeLessThan(limit);
    });

    it('applies completely or not at all while Postgres still works on it, and its retry applies once', async () => {
      const lock = await HeldLock.onCommits(setting);
      const sent = send();
      await lock.isWaitedFor();
      expect(await applied()).toBe(false);
      await killFirst(sent);
      await lock.release();
      await setting.redis.flush();
      expect(await send(second.origin)).toMatchObject({ status: 200 });
    });
  });

  describe('after COMMIT, before the response', () => {
    it('is replayed by another instance when its own is killed', async () => {
      const lock = await HeldLock.onCommits(setting);
      const sent = send();
      await lock.isWaitedFor();
      await databaseProxy.set('blackhole');
      await lock.release();
      await isApplied();
      await killFirst(sent);
      await databaseProxy.set('forward');
      await setting.redis.flush();
      expect(await send(second.origin)).toMatchObject({ status: 200, replayed: true });
    });

    it.each(['blackhole', 'refuse'] as const)(
      'gets 503 within seconds when Postgres is lost (%s), then replays',
      async (loss) => {
        const lock = await HeldLock.onCommits(setting);
        const sent = send();
        await lock.isWaitedFor();
        await databaseProxy.set(loss);
        await lock.release();
        expect(await sent).toMatchObject({ status: 503, code: 'service_unavailable' });
        await isApplied();
        await databaseProxy.set('forward');
        expect(await client.settle(operation, 1)).toMatchObject({ status: 200, replayed: true });
      },
    );

    it('is replayed by the same instance when the client disconnects', async () => {
      const lock = await HeldLock.onCommits(setting);
      const sent = send(`http://127.0.0.1:${clientProxy.port}`);
      await lock.isWaitedFor();
      await clientProxy.set('refuse');
      await lock.release();
      expect(await sent).toMatchObject({ kind: 'lost' });
      await isApplied();
      await clientProxy.set('forward');
      expect(await send()).toMatchObject({ status: 200, replayed: true });
    });
  });
});
