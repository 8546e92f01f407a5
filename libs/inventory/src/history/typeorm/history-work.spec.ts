import type { History } from '#libs/platform/changes';
import type { Settings } from '#libs/platform/config';
import type { Database } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';
import { HistoryRetention } from './history-retention';
import { HistoryWork } from './history-work';

it('counts no day and forgets no state while the clocks of Postgres and of the instance do not agree', async () => {
  const run = jest.fn();
  const database = { run, assertClocksAgree: () => Promise.reject(new Error('apart')) } as unknown as Database;
  const work = new HistoryWork(database, {} as History);
  const retention = new HistoryRetention(database, { historyRetentionDays: 400 } as Settings, new Metrics());

  await expect(work.round()).rejects.toThrow('apart');
  await expect(retention.round()).rejects.toThrow('apart');

  expect(run).not.toHaveBeenCalled();
});
