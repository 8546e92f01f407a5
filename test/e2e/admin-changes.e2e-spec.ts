import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmptyChangeSets } from '../../libs/inventory/src/changes/typeorm/empty-change-sets';
import { Client } from 'pg';
import { runAdminOn } from '../support/admin-command';
import { documentOf } from '../support/finished-command';
import type { ApiClient } from '../support/api-client';
import type { ArrangedAsset } from '../support/arrangement';
import { asApi } from '../support/as-api';
import { type TestApp, startApp } from '../support/start-app';
import { someoneWaits } from '../support/waiting-sessions';

interface Feed {
  readonly results: { readonly id: string; readonly type: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly resumeCursor: string;
}

describe('Change feeds after operator commands', () => {
  let app: TestApp;
  let workspace: string;
  let slug: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    await app.stop();
  });
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    slug = await app.arrange.slugOf(workspace);
  });

  const admin = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, stdout } = await runAdminOn(app.database, [...words, '--workspace', slug, '--yes', '--json']);
    expect(exitCode).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const importRecord = async (record: object): Promise<Record<string, unknown>> => {
    const directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    try {
      const file = join(directory, 'record.ndjson');
      writeFileSync(file, JSON.stringify(record));
      const words = ['import', '--workspace', slug, '--source', 'mdm', '--json', file];
      return documentOf(await runAdminOn(app.database, words));
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
  const get = (cursor?: string) =>
    client.get(`/v1/inventory/changes${cursor === undefined ? '' : `?pageCursor=${cursor}`}`);
  const page = async (cursor?: string): Promise<Feed> => (await get(cursor)).body as unknown as Feed;
  const hide = ({ internalId }: ArrangedAsset): Promise<void> =>
    app.arrange.change(workspace, 'UPDATE asset SET visibility = 2 WHERE workspace_id = $1 AND id = $2', [
      workspace,
      internalId,
    ]);
  const expired = (code: string) => ({
    status: 410,
    body: { code: 'cursor_expired', errors: [{ parameter: 'pageCursor', code }] },
  });

  it.each<[string, object]>([
    ['changes the type of the hidden asset, by which pages are ordered', { type: 'CLOUD_STORAGE_BUCKET' }],
    ['deletes the hidden asset', { visibility: 'DELETED' }],
  ])('tell a removal again when an import %s', async (_what, change) => {
    const queue = { categoryKey: 'CLOUD', type: 'CLOUD_QUEUE', externalId: 'q', name: 'one' };
    await importRecord(queue);
    await importRecord({ ...queue, visibility: 'HIDDEN' });
    const { resumeCursor } = await page();

    await importRecord({ ...queue, visibility: 'HIDDEN', ...change });

    expect((await page(resumeCursor)).results).toMatchObject([{ type: 'REMOVED' }]);
  });

  describe('admin assets purge', () => {
    const purge = (before = '2999-01-01') => admin('assets', 'purge', '--removed-before', before);

    it('deletes removed assets for good and returns 410 to readers who have not seen them removed', async () => {
      const [kept, removed, late] = [
        await app.arrange.anAsset(workspace),
        await app.arrange.anAsset(workspace, { type: 'COMPUTER', posture: { managed: true } }),
        await app.arrange.anAsset(workspace),
      ];
      const before = await page();
      await hide(removed);
      const after = await page(before.resumeCursor);

      expect(await purge()).toEqual({ workspace: slug, purged: 1 });

      expect(await get(before.resumeCursor)).toMatchObject(expired('purged'));
      await hide(late);
      expect((await page(after.resumeCursor)).results).toMatchObject([{ id: late.id, type: 'REMOVED' }]);
      expect((await page()).results).toMatchObject([{ id: kept.id }]);
      const { rows } = await app.database.admin.query('SELECT 1 FROM asset WHERE workspace_id = $1', [workspace]);
      expect(rows).toHaveLength(2);
    });

    it('keeps assets that were removed after the date, and their readers keep their cursors', async () => {
      const removed = await app.arrange.anAsset(workspace);
      const { resumeCursor } = await page();
      await hide(removed);

      expect(await purge('2020-01-01')).toEqual({ workspace: slug, purged: 0 });

      expect((await page(resumeCursor)).results).toMatchObject([{ id: removed.id, type: 'REMOVED' }]);
    });

    it('makes since from before the purge return 410, while a new reader can start', async () => {
      await app.arrange.manyAssets(workspace, 150);
      const removed = await app.arrange.anAsset(workspace);
      await hide(removed);
      const first = await page();
      expect(first.pageInfo.hasNextPage).toBe(true);

      await purge();

      const since = await client.get('/v1/inventory/changes?since=2000-01-01T00:00:00Z');
      expect(since).toMatchObject({ status: 410, body: { errors: [{ parameter: 'since', code: 'purged' }] } });
      expect((await page(first.resumeCursor)).results).toHaveLength(50);
    });

    it('keeps a removed employee who still owns an asset, and cursors from before that removal', async () => {
      const person = await app.arrange.anEmployee(workspace);
      const owned = await app.arrange.anAsset(workspace, { ownerId: person.id });
      await hide(person);

      const removed = await app.arrange.anAsset(workspace);
      await hide(removed);
      const { resumeCursor } = await page();
      const gone = await app.arrange.anEmployee(workspace);
      await app.arrange.anAsset(workspace, { ownerId: gone.id });
      await hide(gone);

      expect(await purge()).toMatchObject({ purged: 1 });

      expect((await get(resumeCursor)).status).toBe(200);
      expect((await client.get(`/v1/inventory/assets/${owned.id}`)).body).toMatchObject({ ownerId: person.id });
    });

    it('counts from the removal of an asset, also after a tag key of it is deleted', async () => {
      const removed = await app.arrange.anAsset(workspace, {
        columns: { tags: '[{"key":"env","value":"","readOnly":false}]' },
      });
      const shown = await app.arrange.anAsset(workspace, {
        columns: { tags: '[{"key":"env","value":"","readOnly":false}]' },
      });
      await app.arrange.aTagKey(workspace, 'env');
      await app.arrange.change(
        workspace,
        `INSERT INTO asset_tag (workspace_id, asset_id, tag_key_id)
         SELECT workspace_id, asset.id, tag_key.id FROM asset JOIN tag_key USING (workspace_id) WHERE workspace_id = $1`,
        [workspace],
      );
      await hide(removed);
      const { resumeCursor } = await page();
      await delay(10);
      const afterRemoval = new Date().toISOString();
      await delay(10);

      expect(await admin('tag-keys', 'delete', '--key', 'env')).toEqual({ key: 'env', assets: 2 });

      expect((await page(resumeCursor)).results).toMatchObject([{ id: shown.id, type: 'UPSERTED' }]);
      const { rows } = await app.database.admin.query<{ tags: unknown }>(
        'SELECT tags FROM asset WHERE workspace_id = $1',
        [workspace],
      );
      expect(rows).toEqual([{ tags: [] }, { tags: [] }]);
      expect(await purge(afterRemoval)).toMatchObject({ purged: 1 });
    });

    it.each<[string, object]>([
      ['its name', { name: 'two' }],
      ['its posture', { managed: false, compliance: { screenLockEnabled: true } }],
    ])('counts from the removal of an asset, also after an import changes %s', async (_what, change) => {
      const record = { categoryKey: 'COMPUTER', externalId: 'c', name: 'one', managed: true };
      const removed = { ...record, visibility: 'HIDDEN' };
      await importRecord(record);
      const { resumeCursor: before } = await page();
      await importRecord(removed);
      const { results, resumeCursor } = await page(before);
      expect(results).toMatchObject([{ type: 'REMOVED' }]);
      await delay(10);
      const afterRemoval = new Date().toISOString();
      await delay(10);

      expect(await importRecord({ ...removed, ...change })).toMatchObject({ updated: 1 });

      expect((await page(resumeCursor)).results).toEqual([]);
      expect(await purge(afterRemoval)).toMatchObject({ purged: 1 });
    });

    it('keeps an asset that was shown and removed again while the purge waited for it', async () => {
      const removed = await app.arrange.anAsset(workspace);
      await hide(removed);
      await delay(10);
      const writer = new Client({ connectionString: app.database.migrationDatabaseUrl });
      await writer.connect();
      await writer.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
      await writer.query('BEGIN');
      for (const visibility of [0, 1]) {
        await writer.query('UPDATE asset SET visibility = $2 WHERE workspace_id = $1', [workspace, visibility]);
      }

      const purged = purge(new Date().toISOString());
      await someoneWaits(app.database);
      await writer.query('COMMIT');
      await writer.end();

      expect(await purged).toMatchObject({ purged: 0 });
    });
  });

  it('makes every reader start again after admin changes restart', async () => {
    const asset = await app.arrange.anAsset(workspace);
    const { resumeCursor } = await page();

    expect(await admin('changes', 'restart')).toEqual({ workspace: slug, sequence: 2 });

    expect(await get(resumeCursor)).toMatchObject(expired('diverged'));
    const again = await page();
    expect(again.results).toMatchObject([{ id: asset.id }]);
    expect((await get(again.resumeCursor)).status).toBe(200);
  });

  it('returns 410 to since from before admin changes restart, and none to a later one', async () => {
    await app.arrange.anAsset(workspace);
    const before = new Date().toISOString();
    await delay(10);
    await admin('changes', 'restart');
    await delay(10);
    const after = new Date().toISOString();
    const { id } = await app.arrange.anAsset(workspace);
    const since = (time: string) => client.get(`/v1/inventory/changes?since=${time}`);

    for (const time of ['2000-01-01T00:00:00Z', before]) {
      expect(await since(time)).toMatchObject({
        status: 410,
        body: { code: 'cursor_expired', errors: [{ parameter: 'since', code: 'diverged' }] },
      });
    }
    expect(await since(after)).toMatchObject({ status: 200, body: { results: [{ id }] } });
  });

  it('skips change sets that are empty by now and still accepts their cursors', async () => {
    const { id } = await app.arrange.anAsset(workspace);
    const cursors: string[] = [];
    for (let version = 0; version < 5; version += 1) {
      cursors.push((await page()).resumeCursor);
      await app.arrange.change(workspace, 'UPDATE asset SET description = $2 WHERE workspace_id = $1', [
        workspace,
        `version ${version}`,
      ]);
    }

    await asApi(app, (database) => new EmptyChangeSets(database).round());

    const { rows } = await app.database.admin.query<{ sequence: string }>(
      'SELECT sequence FROM change_set WHERE workspace_id = $1 AND NOT emptied',
      [workspace],
    );
    expect(rows).toEqual([{ sequence: '6' }]);
    for (const cursor of cursors) expect((await page(cursor)).results).toMatchObject([{ id }]);
  });

  describe('on the history', () => {
    const history = async (id: string) => {
      const { status, body } = await client.get(`/v1/inventory/assets/${id}/history`);
      const entries = (body['results'] ?? []) as { validFrom: string; asset: Record<string, unknown> | null }[];
      return { status, entries, shown: entries.map(({ asset }) => asset && [asset['name'], asset['email']]) };
    };
    const rename = (internalId: string, name: string, visibility = 0): Promise<void> =>
      app.arrange.change(
        workspace,
        'UPDATE asset SET name = $3, email = $4, visibility = $5 WHERE workspace_id = $1 AND id = $2',
        [workspace, internalId, name, `${name.toLowerCase()}@example.com`, visibility],
      );
    const present = async (internalId: string): Promise<unknown[]> => {
      const { rows } = await app.database.admin.query<{ name: string; email: string | null }>(
        'SELECT name, email FROM asset WHERE workspace_id = $1 AND id = $2',
        [workspace, internalId],
      );
      return rows.map(({ name, email }) => [name, email]);
    };

    it('erase an employee from each past state, and from the present one when it ends', async () => {
      const employee = await app.arrange.anEmployee(workspace);
      const owned = await app.arrange.anAsset(workspace, { ownerId: employee.id });
      await rename(employee.internalId, 'Grace');
      const { entries } = await history(employee.id);
      const ownerThen = async (): Promise<unknown> => {
        const path = `/v1/inventory/assets/${owned.id}?expand=owner&asOf=`;
        // When the employee still had the first name.
        const { validFrom } = (await history(owned.id)).entries.at(-1) as { validFrom: string };
        return (await client.get(path + validFrom)).body['owner'];
      };
      expect(await ownerThen()).toMatchObject({ name: 'Ada Okafor' });

      await admin('history', 'erase', '--employee', employee.id);

      expect(await ownerThen()).toEqual({ id: employee.id, name: 'erased', email: null });
      const erased = await history(employee.id);
      expect(erased.shown).toEqual([
        ['Grace', 'grace@example.com'],
        ['erased', null],
      ]);
      expect(erased.entries.map(({ validFrom }) => validFrom)).toEqual(entries.map(({ validFrom }) => validFrom));
      await rename(employee.internalId, 'Hopper');
      await rename(employee.internalId, 'Murray');
      expect((await history(employee.id)).shown).toEqual([
        ['Murray', 'murray@example.com'],
        ['Hopper', 'hopper@example.com'],
        ['erased', null],
        ['erased', null],
      ]);
      const { rows } = await app.database.admin.query<{ target_id: string }>(
        `SELECT target_id FROM audit_event WHERE workspace_id = $1 AND action = 'history.erased'`,
        [workspace],
      );
      expect(rows).toEqual([{ target_id: employee.id }]);
    });

    it('erase what a change that is being committed ends, and nobody else of it', async () => {
      await app.database.admin.query('BEGIN');
      const [employee, colleague] = [await app.arrange.anEmployee(workspace), await app.arrange.anEmployee(workspace)];
      await app.database.admin.query('COMMIT');
      await app.database.admin.query('BEGIN');
      for (const { internalId } of [employee, colleague]) await rename(internalId, 'Grace');
      const erasing = admin('history', 'erase', '--employee', employee.id);
      await someoneWaits(app.database);
      await app.database.admin.query('COMMIT');
      await erasing;

      expect((await history(employee.id)).shown).toEqual([
        ['Grace', 'grace@example.com'],
        ['erased', null],
      ]);
      await rename(employee.internalId, 'Hopper');
      expect((await history(employee.id)).shown[1]).toEqual(['erased', null]);
      await admin('history', 'erase', '--employee', employee.id);
      await rename(employee.internalId, 'Murray');
      expect((await history(employee.id)).shown[1]).toEqual(['erased', null]);
      await rename(colleague.internalId, 'Hedy');
      expect((await history(colleague.id)).shown.slice(1)).toEqual([
        ['Grace', 'grace@example.com'],
        ['Ada Okafor', 'ada@example.com'],
      ]);
    });

    it('erase the present row of an employee who is hidden, without a change', async () => {
      const employee = await app.arrange.anEmployee(workspace);
      await rename(employee.internalId, 'Grace', 1);
      const { resumeCursor } = await page();

      await admin('history', 'erase', '--employee', employee.id);

      expect(await present(employee.internalId)).toEqual([['erased', null]]);
      expect((await history(employee.id)).shown).toEqual([null, ['erased', null]]);
      expect((await page(resumeCursor)).results).toEqual([]);
    });

    it('refuse an id of no employee with exit code 1, and none of a UUID with 2', async () => {
      const asset = await app.arrange.anAsset(workspace);
      for (const [id, expected] of [
        [asset.id, 1],
        ['018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c12', 1],
        ['hr-17', 2],
      ] as const) {
        const words = ['history', 'erase', '--workspace', slug, '--employee', id, '--yes'];
        expect([id, (await runAdminOn(app.database, words)).exitCode]).toEqual([id, expected]);
      }
    });

    it('are purged with their asset, and counted by status', async () => {
      const asset = await app.arrange.anAsset(workspace);
      const status = async () => {
        const { stdout } = await runAdminOn(app.database, ['status', '--json']);
        return (JSON.parse(stdout) as { history: { rows: number; bytes: number } }).history;
      };
      const before = await status();
      const path = `/v1/inventory/assets/${asset.id}?asOf=${(await history(asset.id)).entries[0]?.validFrom}`;
      expect((await client.get(path)).status).toBe(200);
      await hide(asset);
      expect((await status()).rows).toBe(before.rows + 1);
      expect(before.bytes).toBeGreaterThan(0);

      await admin('assets', 'purge', '--removed-before', new Date(Date.now() + 60_000).toISOString());

      expect((await status()).rows).toBeLessThanOrEqual(before.rows);
      expect((await history(asset.id)).status).toBe(404);
      // Also when its id comes back.
      await app.arrange.anAsset(workspace, { columns: { public_id: asset.id } });
      expect((await client.get(path)).status).toBe(404);
      expect((await history(asset.id)).entries).toHaveLength(1);
    });
  });
});
