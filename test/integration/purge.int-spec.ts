import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { RemovedAssets } from '../../libs/inventory/src/changes/typeorm/removed-assets';
import { operatorDataSource } from '../support/database-connection';
import { rowsReadBy } from '../support/rows-read';
import { type TestApp, startApp } from '../support/start-app';

describe('A purge of removed assets', () => {
  let app: TestApp;
  let dataSource: DataSource;
  beforeAll(async () => {
    app = await startApp();
    dataSource = await operatorDataSource(app.database);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await app.stop();
  });

  it('reads few rows for each, although the statistics know only one asset', async () => {
    const [workspace, count] = [await app.arrange.aWorkspace(), 4_000];
    const { admin } = app.database;
    const ada = await app.arrange.anEmployee(workspace);
    await admin.query('ANALYZE asset');
    await app.arrange.manyAssets(workspace, count);
    const update = (set: string, values: unknown[] = []) =>
      app.arrange.change(workspace, `UPDATE asset SET ${set} AND workspace_id = $1`, [workspace, ...values]);
    await update(`owner_id = $2, owner_source = 1 WHERE external_id LIKE '%0'`, [ada.id]);
    await update(`visibility = 1 WHERE external_id LIKE '%1'`);
    const read = (): Promise<number> => rowsReadBy(dataSource, admin, 'asset');
    const before = await read();

    const removed = new RemovedAssets(new Database(dataSource));
    const soon = new Date(Date.now() + 60_000);
    expect(await removed.purge(workspaceId(workspace), soon, () => undefined)).toBe(count / 10);

    const reads = (await read()) - before;
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(100 * count);
  });

  it('passes by a table whose statistics somebody else makes, and makes none for nothing', async () => {
    const [workspace, { admin }] = [await app.arrange.aWorkspace(), app.database];
    const removed = new RemovedAssets(new Database(dataSource));
    const purge = () => removed.purge(workspaceId(workspace), new Date(Date.now() + 60_000), () => undefined);
    const analyzed = async () =>
      (await admin.query<{ n: string }>(`SELECT analyze_count AS n FROM pg_stat_user_tables WHERE relname = 'asset'`))
        .rows;
    const before = await analyzed();
    expect(await purge()).toBe(0);
    expect(await analyzed()).toEqual(before);

    await app.arrange.manyAssets(workspace, 3);
    await app.arrange.change(workspace, 'UPDATE asset SET visibility = 1 WHERE workspace_id = $1', [workspace]);
    const other = await admin.connect();
    try {
      // As CREATE INDEX CONCURRENTLY and a vacuum against wraparound do.
      await other.query('BEGIN; LOCK TABLE asset IN SHARE UPDATE EXCLUSIVE MODE');
      expect(await Promise.race([purge(), delay(30_000, 'waits', { ref: false })])).toBe(3);
    } finally {
      await other.query('ROLLBACK');
      other.release();
    }
  });
});
