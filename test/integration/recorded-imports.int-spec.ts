import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { Socket } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Workspaces } from '#libs/auth/operators';
import { ImportsService } from '#libs/inventory/operators';
import { newestOf } from '#libs/kernel';
import { Database, poolOf } from '#libs/platform/database';
import { ImportRunsTypeorm } from '../../libs/inventory/src/imports/typeorm/import-runs.typeorm';
import { ImportFilesSystem } from '../../libs/inventory/src/imports/system/import-files.system';
import { ImportStoreTypeorm } from '../../libs/inventory/src/imports/typeorm/import-store.typeorm';
import { openDataSource, operatorDataSource } from '../support/database-connection';
import { anAuditRecorder } from '../support/audit-recorder';
import { EMPLOYEE, ImportSetting, RECORDS } from '../support/import-setting';
import { rowsReadBy } from '../support/rows-read';
import { AWAITED_LOCKS } from '../support/test-database';

describe('A recorded import', () => {
  let setting: ImportSetting;

  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  it('is found in its own workspace alone, also by a role that sees the rows of all', async () => {
    const runs = new ImportRunsTypeorm(new Database(setting.dataSource), anAuditRecorder());
    await setting.importAll(EMPLOYEE);
    const own = setting.here;
    const [run] = await setting.rowsOf('import_run');
    const id = String(run?.['id']);
    await setting.enterWorkspace();

    expect((await runs.find(id))?.run.id).toBe(id);
    expect((await runs.find(id, own))?.run.id).toBe(id);
    expect(await runs.find(id, setting.here)).toBeNull();
  });

  it('of thousands of files is listed with the first of them, and shown with all', async () => {
    const runs = new ImportRunsTypeorm(new Database(setting.dataSource), anAuditRecorder());
    await setting.importAll(EMPLOYEE);
    const { rows } = await setting.database.admin.query<{ id: string }>(
      `UPDATE import_run SET files = (SELECT jsonb_agg(jsonb_build_object('name', n || '.json', 'bytes', n))
                                        FROM generate_series(1, 5000) AS n) WHERE workspace_id = $1 RETURNING id`,
      [setting.here],
    );
    const { here: workspaceId } = setting;

    const [latest] = await runs.latest({ workspaceId, source: null }, 10);
    const { items } = await runs.sources(newestOf(workspaceId), { size: 10, after: null });
    const shown = await runs.find(rows[0]?.id ?? '');

    const names = [latest?.run, items[0]?.lastImport].map((run) => run?.files.map(({ name }) => name));
    const first = Array.from({ length: 20 }, (_, n) => `${n + 1}.json`);
    expect(names).toEqual([first, first]);
    expect(shown?.run.files).toHaveLength(5_000);
  });

  it('tells how many items its map leaves out, while it runs', async () => {
    const options = { source: 'test', files: [], dryRun: true, missing: 'keep', createTagKeys: null } as const;
    const lines = [1, 2].map((line) => ({ fileIndex: 0, line, leftOut: true as const }));
    const told: number[] = [];
    const onProgress = ({ skipped }: { readonly skipped: number }) => void told.push(skipped);

    await setting.imports.runLines(setting.here, { ...options, onProgress }, lines);

    expect(told[0]).toBe(2);
  });

  it('shows its counts while its batches overlap', async () => {
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    let counts: unknown;
    const lines = async function* () {
      for (let line = 1; line <= 16; line += 1) {
        // Counts are written every two seconds at most.
        if (line === 8) await delay(2_100);
        yield { fileIndex: 0, line, value: { ...RECORDS, externalId: `ds-${line}` } };
      }
      await setting.until(`SELECT FROM asset WHERE workspace_id = '${setting.here}' AND external_id = 'ds-14'`);
      counts = (await setting.rowsOf('import_run'))[0]?.['counts'];
    };

    await setting.imports.runLines(setting.here, { ...options, batchSize: 1 }, lines());

    expect(counts).toMatchObject({ read: expect.any(Number) as number, created: expect.any(Number) as number });
    expect((counts as { read: number }).read).toBeGreaterThan(7);
  });

  it.each([
    ['an operator', 'migrationDatabaseUrl', 'operator'],
    ['a person', 'consoleDatabaseUrl', 'request'],
  ] as const)('is listed for %s by reading few of the others', async (_, address, patience) => {
    const { admin } = setting.database;
    await admin.query(
      `INSERT INTO import_run (workspace_id, id, source, started_at, ended_at, outcome, options, files, counts, errors, warnings)
       SELECT $1, gen_random_uuid(), 'test', now() - make_interval(mins => n), now(), 'COMPLETED', '{}', '[]', '{}', '[]', '[]'
         FROM generate_series(1, 20000) AS n`,
      [setting.here],
    );
    await admin.query('ANALYZE import_run');
    const dataSource = await openDataSource(setting.database[address], 1, patience);
    const runs = new ImportRunsTypeorm(new Database(dataSource), anAuditRecorder());
    const workspaceIds = patience === 'operator' ? [setting.here, null] : [setting.here];

    for (const workspaceId of workspaceIds) {
      for (const source of ['test', null]) {
        const before = await rowsReadBy(dataSource, admin, 'import_run');
        const times = (await runs.latest({ workspaceId, source }, 10)).map(({ run }) => run.startedAt.getTime());
        expect(times).toHaveLength(10);
        expect(times).toEqual(times.toSorted((one, other) => other - one));
        expect((await rowsReadBy(dataSource, admin, 'import_run')) - before).toBeLessThan(2_000);
      }
    }
    await dataSource.destroy();
  });

  it('of a machine that is gone holds its locks for two minutes at most', async () => {
    const { admin } = setting.database;
    await admin.query(`
      CREATE TABLE told (seconds int);
      CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        INSERT INTO told VALUES (current_setting('tcp_keepalives_idle')::int
          + current_setting('tcp_keepalives_interval')::int * current_setting('tcp_keepalives_count')::int);
        RETURN NEW; END $$;
      CREATE TRIGGER tell BEFORE INSERT ON asset FOR EACH ROW EXECUTE FUNCTION tell()`);

    await setting.importAll(EMPLOYEE);

    const { rows } = await admin.query('SELECT seconds FROM told');
    await admin.query('DROP FUNCTION tell CASCADE; DROP TABLE told');
    expect(rows).toEqual([{ seconds: 120 }]);
  });

  it('asks every minute whether the machine of Postgres is still there', async () => {
    const asked = jest.spyOn(Socket.prototype, 'setKeepAlive');
    const dataSource = await operatorDataSource(setting.database);
    await dataSource.destroy();

    expect(asked.mock.calls).toEqual([[true, 60_000]]);
    asked.mockRestore();
  });

  it('says that one failed whose file is not there', async () => {
    await expect(setting.run(['/nowhere/export.json', setting.ndjson(EMPLOYEE)])).rejects.toThrow(
      '/nowhere/export.json',
    );

    expect(await setting.rowsOf('import_run')).toMatchObject([
      {
        ...{ outcome: 'FAILED', counts: { read: 0 } },
        files: [
          { name: 'export.json', bytes: null },
          { name: expect.any(String) as string, bytes: expect.any(Number) as number },
        ],
      },
    ]);
  });

  it('fails, and leaves no event, where its workspace was deleted before its end', async () => {
    const workspaces = new Workspaces(new Database(setting.dataSource));
    const lines = async function* () {
      await workspaces.deleteRows(setting.here, [], () => undefined);
      await workspaces.delete(setting.here, () => Promise.resolve());
      yield* [];
    };
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;

    const importing = setting.imports.runLines(setting.here, options, lines());

    await expect(importing).rejects.toThrow('The workspace was deleted meanwhile.');
    expect(await setting.rowsOf('audit_event')).toEqual([]);
  });

  it('fails where it ends while the rows of its workspace are deleted', async () => {
    const { admin } = setting.database;
    const workspaces = new Workspaces(new Database(setting.dataSource));
    await setting.importAll(EMPLOYEE);
    await admin.query(`BEGIN; SELECT FROM asset WHERE workspace_id = '${setting.here}' FOR UPDATE`);
    let deleting: Promise<void> | undefined;
    const lines = async function* () {
      deleting = workspaces.deleteRows(setting.here, [], () => undefined);
      await setting.until(`SELECT FROM ${AWAITED_LOCKS} HAVING count(*) > 0`);
      yield* [];
    };
    const options = { source: 'other', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;

    const importing = setting.imports.runLines(setting.here, options, lines());

    await expect(importing).rejects.toThrow('The workspace was deleted meanwhile.');
    await admin.query('ROLLBACK');
    await deleting;
  });

  it('says that its workspace was deleted where a batch finds it gone', async () => {
    const workspaces = new Workspaces(new Database(setting.dataSource));
    const lines = async function* () {
      await workspaces.deleteRows(setting.here, [], () => undefined);
      await workspaces.delete(setting.here, () => Promise.resolve());
      yield { fileIndex: 0, line: 1, value: RECORDS };
    };
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;

    const importing = setting.imports.runLines(setting.here, options, lines());

    await expect(importing).rejects.toThrow('The workspace was deleted meanwhile.');
  });

  it('of a source leaves an event for each of two changes of its limit at once', async () => {
    const { admin } = setting.database;
    const runs = new ImportRunsTypeorm(new Database(setting.dataSource), anAuditRecorder());
    const setLimit = (seconds: number) => runs.setStaleAfter(setting.here, 'test', seconds);
    const untilWaiting = (count: number) => setting.until(`SELECT FROM ${AWAITED_LOCKS} HAVING count(*) >= ${count}`);
    await setting.importAll(EMPLOYEE);
    await setLimit(10);
    await admin.query(`BEGIN; SELECT FROM import_freshness WHERE workspace_id = '${setting.here}' FOR UPDATE`);
    const first = setLimit(20);
    await untilWaiting(1);
    const second = setLimit(10);
    await untilWaiting(2);
    await admin.query('COMMIT');
    await Promise.all([first, second]);

    const events = (await setting.rowsOf('audit_event')).filter(({ action }) => action === 'source.stale_after_set');
    expect(events.map(({ changes }) => (changes as { staleAfterSeconds: object }).staleAfterSeconds)).toEqual([
      { old: null, new: 10 },
      { old: 10, new: 20 },
      { old: 20, new: 10 },
    ]);
  });

  it('that fails while it hides says how many assets it had hidden', async () => {
    const { admin } = setting.database;
    await setting.importAll(...Array.from({ length: 5_001 }, (_, at) => ({ ...RECORDS, externalId: `ds-${at}` })));
    await admin.query(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
      CREATE TRIGGER fail BEFORE UPDATE ON asset FOR EACH ROW WHEN (NEW.external_id = 'ds-5000') EXECUTE FUNCTION fail()`);

    const options = { missing: 'hide', hideAtMost: { percent: 100 } } as const;
    await expect(setting.run(setting.ndjson(EMPLOYEE), options)).rejects.toThrow('the disk is full');

    await admin.query('DROP FUNCTION fail CASCADE');
    expect(await setting.rowsOf('import_run')).toContainEqual(
      expect.objectContaining({ outcome: 'FAILED', counts: expect.objectContaining({ hidden: 5_000 }) as object }),
    );
  });

  it('has no length of what is no regular file', async () => {
    const file = setting.ndjson(EMPLOYEE);

    await setting.run([file, '/dev/null', '/dev/null']);

    const [run] = await setting.rowsOf('import_run');
    const unknown = { name: 'null', bytes: null };
    expect(run?.['files']).toEqual([{ name: basename(file), bytes: statSync(file).size }, unknown, unknown]);
  });

  it.each([
    ['an operator', 'migrationDatabaseUrl', 1],
    ['a person, whose role owns no table', 'consoleDatabaseUrl', 0],
  ] as const)('of %s makes statistics if it can', async (_, address, times) => {
    const dataSource = await openDataSource(setting.database[address], 2, 'operator');
    const warnings: unknown[] = [];
    poolOf(dataSource).on('acquire', (client) => client.on('notice', ({ message }) => warnings.push(message)));
    const store = new ImportStoreTypeorm(dataSource, anAuditRecorder());
    const imports = new ImportsService(store, new ImportFilesSystem());
    const records = Array.from({ length: 2_000 }, (__, at) => ({ ...EMPLOYEE, externalId: `e-${at}`, email: null }));
    const analyzed = async (): Promise<number> => {
      const count = `SELECT analyze_count AS n FROM pg_stat_user_tables WHERE relname = 'asset'`;
      return Number((await setting.database.admin.query<{ n: string }>(count)).rows[0]?.n);
    };
    const before = await analyzed();
    const by = times === 0 ? { person: { personId: randomUUID(), requestId: randomUUID() } } : {};
    const options = { source: 'test', dryRun: false, missing: 'keep', createTagKeys: null, ...by } as const;

    const report = await imports.run(setting.here, { ...options, files: [setting.ndjson(...records)] });
    await dataSource.destroy();

    expect(report).toMatchObject({ created: 2_000, failed: 0 });
    expect((await analyzed()) - before).toBe(times);
    expect(warnings).toEqual([]);
  });
});
