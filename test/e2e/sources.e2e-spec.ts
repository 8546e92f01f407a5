import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { originCode } from '#libs/platform/changes';
import { Metrics } from '#libs/platform/observability';
import { ImportWatch } from '../../libs/inventory/src/imports/typeorm/import-watch';
import { runAdminOn } from '../support/admin-command';
import type { ApiClient } from '../support/api-client';
import { asApi } from '../support/as-api';
import { type Row, documentOf, expectFault } from '../support/finished-command';
import type { FinishedCommand } from '../support/running-command';
import { type TestApp, startApp } from '../support/start-app';

const PATH = '/v1/inventory/sources';
const dataset = (externalId: string) => ({ categoryKey: 'INFORMATION', externalId, name: externalId });

describe('Sources and records of imports', () => {
  let app: TestApp;
  let directory: string;
  let workspace: string;
  let slug: string;
  let client: ApiClient;
  beforeAll(async () => {
    app = await startApp();
    directory = mkdtempSync(join(tmpdir(), 'compliance-sources-'));
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await app.stop();
  });
  beforeEach(async () => {
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace);
    slug = await app.arrange.slugOf(workspace);
  });

  const admin = (...words: string[]): Promise<FinishedCommand> =>
    runAdminOn(app.database, [...words, '--json'], { OPERATOR_NAME: 'on call' });
  const run = async (...words: string[]): Promise<Row> => documentOf(await admin(...words));
  const load = (source: string, records: readonly object[], ...words: string[]): Promise<FinishedCommand> => {
    const file = join(directory, 'assets.ndjson');
    writeFileSync(file, records.map((record) => JSON.stringify(record)).join('\n'));
    return admin('import', '--workspace', slug, '--source', source, file, ...words);
  };
  const rekey = (from: string, to: string): Promise<FinishedCommand> =>
    admin('assets', 'rekey', '--workspace', slug, '--source', ' mdm ', '--from', from, '--to', to);
  /** The metrics after one look with the rights of the API. */
  const metrics = (): Promise<string[]> =>
    asApi(app, async (database) => {
      const exposed = new Metrics();
      await new ImportWatch(database, exposed).round();
      return (await exposed.expose()).split('\n').filter((line) => line.includes(slug));
    });

  it('shows each source with an asset or an import, its latest import, and the last completed one', async () => {
    await app.arrange.anAsset(workspace, { columns: { source: 'b-without-import' } });
    await app.arrange.anAsset(workspace, { columns: { source: 'c-hidden' }, visibility: 'HIDDEN' });
    await load('a', [dataset('1'), dataset('2'), { externalId: '3' }]);
    await load('Z-empty', []);
    await load('a', [], '--missing', 'hide');

    const { results, pageInfo } = await client.page(PATH);

    const none = { lastImport: null, lastCompletedAt: null, staleAfterSeconds: null };
    expect(pageInfo).toEqual({ hasNextPage: false, endCursor: null, totalCount: 4 });
    expect(results).toEqual([
      expect.objectContaining({ source: 'Z-empty', assetCount: 0 }),
      {
        source: 'a',
        assetCount: 2,
        lastImport: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          startedAt: expect.any(String) as string,
          endedAt: expect.any(String) as string,
          outcome: 'COMPLETED',
          ...{ read: 0, created: 0, updated: 0, unchanged: 0, hidden: 0, failed: 0, warned: 0, skipped: 0, rekeyed: 0 },
          hiddenWhy: expect.stringContaining('The input named no asset') as string,
        },
        lastCompletedAt: (results[1]?.['lastImport'] as Row)['endedAt'],
        staleAfterSeconds: null,
      },
      { source: 'b-without-import', assetCount: 1, ...none },
      { source: 'c-hidden', assetCount: 0, ...none },
    ]);
    const walked = await client.walk(PATH, { pageSize: '1' });
    expect(walked.map(({ source }) => source)).toEqual(['Z-empty', 'a', 'b-without-import', 'c-hidden']);
  });

  it('shows no source of another workspace, and needs inventory:read', async () => {
    await load('ours', [dataset('1')]);
    const other = await app.arrange.aClient(await app.arrange.aWorkspace());
    expect((await other.page(PATH)).results).toEqual([]);
    const without = await app.arrange.aClient(workspace, ['computers:read']);
    expect((await without.get(PATH)).status).toBe(403);
  });

  it('lists and shows imports to operators', async () => {
    await load('a', [dataset('1'), { ...dataset('2'), classification: 'SECRET' }]);
    await load('b', [dataset('1')]);

    const { items } = await run('imports', 'list', '--workspace', slug);
    expect(items).toMatchObject([{ source: 'b' }, { source: 'a' }]);
    const [{ id }] = (await run('imports', 'list', '--workspace', slug, '--source', ' a '))['items'] as [
      { id: string },
    ];
    const shown = await run('imports', 'show', id);
    expect(shown).toMatchObject({
      ...{ id, workspace: slug, source: 'a', outcome: 'COMPLETED', who: 'on call', created: 1, failed: 1 },
      files: [{ name: 'assets.ndjson' }],
      errors: [{ line: 2, reason: expect.stringContaining('classification must be one of') as string }],
      warnings: [],
    });
    expectFault(await admin('imports', 'list', '--source', ' '), 2, /A source has 1 to 100 bytes/);
    expectFault(await admin('imports', 'show', workspace), 1, /There is no import/);
    expectFault(await admin('imports', 'show', 'x'), 2, /"x" is no id of an import/);
  });

  it('sets when a source is stale, and shows its age to alerts', async () => {
    const here = ['--workspace', slug, '--source', ' a '];
    expectFault(await admin('sources', 'set', ...here, '--stale-after', '26h'), 1, /has no source "a"/);
    await load('a', [dataset('1')]);
    const series = `{workspace="${slug}",source="a"}`;
    expect(await metrics()).toEqual([expect.stringContaining(`compliance_import_age_seconds${series} `)]);

    await run('sources', 'set', ...here, '--stale-after', '26h');

    expect((await client.page(PATH)).results).toMatchObject([{ source: 'a', staleAfterSeconds: 93_600 }]);
    expect((await run('sources', 'list', '--workspace', slug))['items']).toMatchObject([
      { workspace: slug, source: 'a', staleAfterSeconds: 93_600, lastImport: { outcome: 'COMPLETED' } },
    ]);
    expect(await metrics()).toContain(`compliance_import_stale_after_seconds${series} 93600`);
    await run('sources', 'set', ...here, '--stale-after', 'never');
    expect(await metrics()).not.toContain(`compliance_import_stale_after_seconds${series} 93600`);
    const { rows } = await app.database.admin.query(
      `SELECT actor_name, target_id, changes FROM audit_event
        WHERE workspace_id = $1 AND action = 'source.stale_after_set' ORDER BY occurred_at`,
      [workspace],
    );
    expect(rows).toEqual([
      { actor_name: 'on call', target_id: 'a', changes: { staleAfterSeconds: { old: null, new: 93_600 } } },
      { actor_name: 'on call', target_id: 'a', changes: { staleAfterSeconds: { old: 93_600, new: null } } },
    ]);
  });

  it('shows alerts the sources that are due first', async () => {
    await load('a', [dataset('1')]);
    await load('b', [dataset('1')]);
    await run('sources', 'set', '--workspace', slug, '--source', 'a', '--stale-after', '1h');
    await run('sources', 'set', '--workspace', slug, '--source', 'b', '--stale-after', '2h');
    const { rows } = await app.database.admin.query(
      'SELECT source FROM freshness_of_imports(500) WHERE workspace = $1',
      [slug],
    );
    expect(rows).toEqual([{ source: 'a' }, { source: 'b' }]);
  });

  it('lets an operator give an asset another externalId, which feed and audit tell', async () => {
    const gone = { ...dataset('ds-9'), visibility: 'HIDDEN' };
    await load('mdm', [dataset('ds-1'), dataset('ds-2'), gone, { ...dataset('hr-1'), categoryKey: 'EMPLOYEE' }]);
    const named = async (externalId: string): Promise<Row> =>
      (await client.page('/v1/inventory/assets', { externalId })).results[0] as Row;
    const asset = await named('ds-1');
    expect(documentOf(await rekey('ds-1', 'ds-3'))).toEqual({ rekeyed: 1 });
    expect(documentOf(await rekey('hr-1', 'ada@example.com'))).toEqual({ rekeyed: 1 });
    expect(documentOf(await rekey('ds-9', 'ds-8'))).toEqual({ rekeyed: 1 });

    expect(await named('ds-3')).toMatchObject({ id: asset['id'] });
    const sets = `SELECT origin FROM change_set WHERE workspace_id = $1 ORDER BY sequence DESC LIMIT 1`;
    const origin = async () => (await app.database.admin.query<{ origin: number }>(sets, [workspace])).rows[0]?.origin;
    expect(await origin()).toBe(originCode('OPERATOR'));
    const { rows } = await app.database.admin.query<Row>(
      `SELECT actor_type, actor_name, target_id, changes->'externalId' AS changed FROM audit_event
        WHERE workspace_id = $1 AND action = 'asset.rekeyed' ORDER BY id`,
      [workspace],
    );
    const by = { actor_type: 'OPERATOR', actor_name: 'on call' };
    expect(rows).toMatchObject([
      { ...by, target_id: asset['id'], changed: { old: 'ds-1', new: 'ds-3' } },
      { ...by, changed: { old: null, new: null } },
      { ...by, changed: { old: 'ds-9', new: 'ds-8' } },
    ]);
    const found = await app.database.admin.query('SELECT FROM audit_event WHERE asset_id = $1', [asset['id']]);
    expect(found.rowCount).toBe(1);

    expectFault(await rekey('ds-1', 'ds-4'), 1, /The source has no asset with externalId "ds-1"/);
    expectFault(await rekey('ds-2', 'ds-8'), 1, /Another asset of the source has externalId "ds-8"/);
    expectFault(await rekey('ds-2', 'x'.repeat(2049)), 2, /An externalId has 1 to 2048 bytes/);
  });
});
