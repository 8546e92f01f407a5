import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { TagKeyRepositoryTypeorm } from '../../libs/inventory/src/tag-keys/typeorm/tag-key-repository.typeorm';
import { operatorDataSource } from '../support/database-connection';
import { rowsReadBy } from '../support/rows-read';
import { type TestApp, startApp } from '../support/start-app';
import { anAuditRecorder } from '../support/audit-recorder';

describe('Tag keys', () => {
  let app: TestApp;
  let dataSource: DataSource;
  let keys: TagKeyRepositoryTypeorm;
  beforeAll(async () => {
    app = await startApp();
    dataSource = await operatorDataSource(app.database);
    keys = new TagKeyRepositoryTypeorm(new Database(dataSource), anAuditRecorder());
  });
  afterAll(async () => {
    await dataSource.destroy();
    await app.stop();
  });

  const tagAll = (workspace: string): Promise<unknown> =>
    app.arrange.change(
      workspace,
      `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
       SELECT asset.workspace_id, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id) WHERE workspace_id = $1`,
      [workspace],
    );
  const withTaggedAssets = async (count: number): Promise<WorkspaceId> => {
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.aTagKey(workspace, 'env');
    await app.arrange.manyAssets(workspace, count);
    await tagAll(workspace);
    return workspaceId(workspace);
  };
  /** Who recorded a deletion. */
  const authorsIn = async (workspace: string): Promise<string[]> => {
    const recorded = `SELECT actor_name FROM audit_event WHERE workspace_id = $1 AND action = 'tag_key.deleted'`;
    const { rows } = await app.database.admin.query<{ actor_name: string }>(recorded, [workspace]);
    return rows.map((row) => row.actor_name);
  };

  it('are deleted with few reads for each asset, although the statistics know only one', async () => {
    const [workspace, count] = [await app.arrange.aWorkspace(), 4_000];
    await app.arrange.aTagKey(workspace, 'env');
    await app.arrange.anAsset(workspace);
    const { admin } = app.database;
    await admin.query('ANALYZE asset, asset_tag');
    await app.arrange.manyAssets(workspace, count);
    await tagAll(workspace);
    const read = (): Promise<number> => rowsReadBy(dataSource, admin, 'asset', 'asset_tag');
    const before = await read();

    expect(await keys.delete(workspaceId(workspace), 'env')).toEqual({ assets: count + 1 });

    const reads = (await read()) - before;
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(100 * count);
  });

  it('are listed by code points, each once in its workspace', async () => {
    const [ours, theirs] = [await app.arrange.aWorkspace(), await app.arrange.aWorkspace()].map(workspaceId) as [
      WorkspaceId,
      WorkspaceId,
    ];
    for (const key of ['b', 'ä', '_', 'C']) await keys.create(ours, { key, value: null, platform: false });

    expect(await keys.create(ours, { key: 'b', value: 'other', platform: true })).toBeNull();
    expect(await keys.create(theirs, { key: 'b', value: 'theirs', platform: true })).toMatchObject({ value: 'theirs' });
    expect((await keys.list(ours)).map(({ key }) => key)).toEqual(['C', '_', 'b', 'ä']);
    expect(await keys.delete(ours, 'b', () => undefined)).toEqual({ assets: 0 });
    expect((await keys.list(theirs)).map(({ key }) => key)).toEqual(['b']);
  });

  it('leave one event where two commands delete the same key at once', async () => {
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.aTagKey(workspace, 'env');

    const deletions = [1, 2].map(() => keys.delete(workspaceId(workspace), 'env'));

    expect(await Promise.all(deletions)).toEqual([{ assets: 0 }, { assets: 0 }]);
    expect(await authorsIn(workspace)).toEqual(['ops']);
  });

  it('leave at most one event of each command where two remove tags at once', async () => {
    const count = 6_001;
    const workspace = await withTaggedAssets(count);

    const deletions = ['first', 'second'].map((operator) =>
      new TagKeyRepositoryTypeorm(new Database(dataSource), anAuditRecorder(operator)).delete(workspace, 'env'),
    );

    const removed = (await Promise.all(deletions)).map((deleted) => deleted?.assets ?? 0);
    expect(removed.reduce((sum, assets) => sum + assets)).toBe(count);
    const authors = await authorsIn(workspace);
    expect(authors.length).toBeGreaterThan(0);
    expect(authors).toEqual([...new Set(authors)]);
  });

  it('leave one event where assets had the key', async () => {
    const workspace = await withTaggedAssets(1);

    expect(await keys.delete(workspace, 'env')).toEqual({ assets: 1 });

    expect(await authorsIn(workspace)).toEqual(['ops']);
  });

  it('leave an event when their deletion is interrupted after it removed tags', async () => {
    const workspace = await withTaggedAssets(1);

    const interrupted = keys.delete(workspace, 'env', () => {
      throw new Error('interrupted');
    });

    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await keys.list(workspace)).toMatchObject([{ key: 'env' }]);
    expect(await authorsIn(workspace)).toEqual(['ops']);
  });

  it('are removed even from an asset that got the key just before its deletion completed', async () => {
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.aTagKey(workspace, 'env');
    const asset = await app.arrange.anAsset(workspace);
    const { admin } = app.database;
    await admin.query('BEGIN');
    await app.arrange.change(
      workspace,
      'INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id) SELECT $1, $2, id FROM tag_key WHERE workspace_id = $1',
      [workspace, asset.internalId],
    );
    const deletion = keys.delete(workspaceId(workspace), 'env');
    await delay(300);
    await admin.query('COMMIT');
    expect(await deletion).toEqual({ assets: 1 });
    const { rows } = await admin.query('SELECT 1 FROM asset_tag WHERE asset_id = $1', [asset.internalId]);
    expect(rows).toEqual([]);
  });

  it('are deleted with locks in the order of updates, so that neither deadlocks', async () => {
    const workspace = await app.arrange.aWorkspace();
    await app.arrange.aTagKey(workspace, 'env');
    const assets: number[] = [];
    while (assets.length < 40) assets.push(Number((await app.arrange.anAsset(workspace)).internalId));
    const { admin } = app.database;
    // The first by id is the last in the table.
    await app.arrange.change(
      workspace,
      `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
       SELECT asset.workspace_id, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id)
        WHERE workspace_id = $1 ORDER BY asset.id DESC`,
      [workspace],
    );
    await app.arrange.change(workspace, 'UPDATE asset SET version = version WHERE id = $1', [assets[0]]);
    // With statistics of a small table, Postgres reads it sequentially.
    await admin.query('ANALYZE asset, asset_tag');
    await admin.query('BEGIN');
    await admin.query('SELECT 1 FROM asset WHERE id = $1 FOR UPDATE', [assets[0]]);
    const deletion = keys.delete(workspaceId(workspace), 'env');
    await delay(300);
    // The rows are free, because the deletion waits for the first before it takes another.
    await admin.query('SELECT 1 FROM asset WHERE id = ANY ($1) FOR UPDATE NOWAIT', [assets.slice(1)]);
    await admin.query('COMMIT');
    expect(await deletion).toEqual({ assets: 40 });
  });
});
