import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type TemporaryPostgres, startTemporaryPostgres } from '../support/temporary-postgres';
import { tally } from './response-faults';
import { FaultSetting } from './fault-setting';
import { type Operation } from './operation-log';
import { MINUTE, RESPONSE_MS, sized, tell } from './sizes';

const CRASHES = sized({ short: 1, long: 20 });
const UP_MS = 1_200;
const DOWN_MS = 600;
const SENDERS = 8;
const ASSETS = 20;

/** As in production: acknowledged commits are on disk. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

describe('A crash and restart of Postgres', () => {
  let postgres: TemporaryPostgres;
  let setting: FaultSetting;
  beforeAll(async () => {
    postgres = await startTemporaryPostgres({ postgresSettings: DURABLE });
    setting = await FaultSetting.open({ postgres });
    await setting.startInstances({}, {});
  });
  afterAll(() => setting.close());

  it(
    'loses and halves no acknowledged update, and returns 503 in time until retries succeed',
    async () => {
      const arrange = await setting.enterWorkspace();
      const assets = await setting.assets(arrange, ASSETS);
      const owner = (await arrange.anEmployee(setting.workspace)).id;
      for (const key of ['env', 'team']) await arrange.aTagKey(setting.workspace, key);
      const client = setting.client();
      const operation = (n: number): Operation => {
        const key = randomUUID();
        if (n % 10 === 0) {
          const ids = assets.filter((_, place) => place % 2 === n % 2);
          return { key, assets: ids, path: '/v1/inventory/assets', body: { ids, patch: { description: `bulk ${n}` } } };
        }
        const asset = assets[n % ASSETS] as string;
        const tags = [{ key: n % 2 === 0 ? 'env' : 'team' }];
        const body = { description: `change ${n}`, tags, ownerId: owner };
        return { key, assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
      };

      let [sent, over] = [0, false];
      const sender = async (): Promise<void> => {
        while (!over) {
          sent += 1;
          await client.settle(operation(sent), sent);
        }
      };
      const senders = Promise.all(Array.from({ length: SENDERS }, sender));
      const crashes = async (): Promise<void> => {
        for (let crash = 0; crash < CRASHES; crash += 1) {
          await delay(UP_MS);
          await postgres.restart('immediate', DOWN_MS);
        }
        await delay(UP_MS);
        over = true;
      };
      await Promise.all([senders, crashes()]);

      await setting.connect();
      const histories = setting.log.read();
      const counts = tally(histories.values());
      tell('Postgres crashes', { keys: sent, crashes: CRASHES, ...counts });
      const attempts = [...histories.values()].flatMap((history) => history.attempts);
      expect(await setting.faults()).toEqual([]);
      expect(counts['refused']).toBeGreaterThan(0);
      expect(counts['lost']).toBe(0);
      expect(attempts.filter(({ milliseconds }) => milliseconds > RESPONSE_MS)).toEqual([]);
    },
    sized({ short: 3, long: 10 }) * MINUTE,
  );
});
