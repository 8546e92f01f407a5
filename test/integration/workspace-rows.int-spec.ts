import type { DataSource } from 'typeorm';
import { workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { WorkspaceRows } from '../../libs/auth/src/typeorm/workspace-rows';
import { operatorDataSource } from '../support/database-connection';
import { rowsReadBy } from '../support/rows-read';
import { type TestApp, startApp } from '../support/start-app';

describe('The deletion of the rows of a workspace', () => {
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

  it('looks at rows that own others once, not in every batch', async () => {
    const [workspace, owners] = [await app.arrange.aWorkspace(), 1_000];
    await app.arrange.manyAssets(workspace, 2 * owners);
    await app.arrange.change(
      workspace,
      `UPDATE asset SET owner_source = 1, owner_id = (
         SELECT public_id FROM asset AS owner
          WHERE workspace_id = $1 AND owner.external_id = (asset.external_id::integer - $2)::text)
        WHERE workspace_id = $1 AND external_id::integer > $2`,
      [workspace, owners],
    );
    const read = (): Promise<number> => rowsReadBy(dataSource, app.database.admin, 'asset');
    const before = await read();

    const told: number[] = [];
    const rows = new WorkspaceRows(new Database(dataSource), workspaceId(workspace), 20);
    await rows.delete([], (deleted) => told.push(deleted));

    const reads = (await read()) - before;
    expect(await rows.counts()).toEqual({});
    expect(Math.max(...told.map((deleted, n) => deleted - (told[n - 1] ?? 0)))).toBe(20);
    expect(reads).toBeGreaterThanOrEqual(2 * owners);
    expect(reads).toBeLessThan(30 * 2 * owners);
  });
});
