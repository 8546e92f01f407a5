import fc from 'fast-check';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { ImportOptions } from '#libs/inventory/operators';
import { ALL, BUCKET, EMPLOYEE, ImportSetting, LAPTOP, PRINTER, RECORDS, type Row } from '../support/import-setting';

const [ID, OTHER_ID] = ['018f9c2e-7d2a-7c41-9a51-000000000001', '018f9c2e-7d2a-7c41-9a51-000000000002'];

describe('A dry run of an import', () => {
  let setting: ImportSetting;
  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  const lines = (...records: readonly unknown[]) =>
    records.map((value, index) => ({ fileIndex: 0, line: index + 1, value }));

  /** A promise with the function that keeps it. */
  const signal = (): readonly [Promise<void>, () => void] => {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((done) => (resolve = done));
    return [promise, resolve];
  };

  it('that stays open delays no change of others and holds no snapshot', async () => {
    await setting.importAll(...ALL);
    const changed = [
      { ...EMPLOYEE, name: 'Ada', externalId: 'hr-17' },
      { ...BUCKET, description: 'Other', tags: [{ key: 'env' }, { key: 'new-key' }] },
      { ...LAPTOP, compliance: { antivirusInstalled: false } },
      { ...RECORDS, visibility: 'HIDDEN' },
      { ...PRINTER, name: 'x' },
      { ...PRINTER, externalId: 'new', id: ID },
    ];
    const [reached, reach] = signal();
    const [released, release] = signal();
    const input = async function* () {
      yield* lines(
        ...changed,
        ...changed.map((record, index) => ({ ...record, externalId: `n-${index}`, id: undefined })),
      );
      await delay(500);
      reach();
      await released;
    };
    const options = { source: 'test', files: [], dryRun: true, missing: 'keep', createTagKeys: 'platform' } as const;
    const running = setting.imports.runLines(setting.here, { ...options, batchSize: 1 }, input());
    await reached;
    const other = new Client({ connectionString: setting.database.migrationDatabaseUrl });
    await other.connect();
    try {
      await other.query(`SET lock_timeout = '1s'; SET app.workspace_id = '${setting.here}'`);

      await other.query(
        `UPDATE asset SET classification = (classification + 1) % 4, owner_id = NULL, owner_source = NULL`,
      );
      await other.query(`UPDATE computer SET antivirus_installed = NOT antivirus_installed`);
      await other.query(`DELETE FROM asset_tag`);
      await other.query(`INSERT INTO tag_key (workspace_id, key, platform) VALUES ($1, 'new-key', false)`, [
        setting.here,
      ]);
      await other.query(
        `INSERT INTO asset (workspace_id, source, external_id, sub_key, name, public_id) VALUES ($1, 'test', 'new', 13, 'n', $2)`,
        [setting.here, ID],
      );
      const { rows } = await other.query(`
        SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL OR state LIKE 'idle in transaction%')`);
      expect(rows).toEqual([]);
    } finally {
      release();
      await other.end();
    }
    expect(await running).toMatchObject({ created: 7, updated: 5, failed: 0 });
  });

  it('runs beside an import of its source, and hides no import whose process is gone', async () => {
    const input = setting.ndjson(EMPLOYEE);
    const beside = async function* () {
      yield* lines(RECORDS);
      expect(await setting.run(input, { dryRun: true })).toMatchObject({ created: 1 });
      await setting.change(`INSERT INTO import_run (workspace_id, id, source, outcome, options, files, counts, errors, warnings)
        VALUES ('${setting.here}', gen_random_uuid(), 'test', 'RUNNING', '{}', '[]', '{}', '[]', '[]')`);
      await setting.database.admin.query('SELECT settle_import_runs()');
      expect(await setting.rowsOf('import_run')).toMatchObject([{ outcome: 'INTERRUPTED' }]);
      expect(await setting.importAll(EMPLOYEE)).toMatchObject({ created: 1 });
    };
    const options = { source: 'test', files: [], dryRun: true, missing: 'keep', createTagKeys: null } as const;

    const report = await setting.imports.runLines(setting.here, options, beside());

    expect(report).toMatchObject({ created: 1, dryRun: true });
  });

  it('looks each record up by the key of its asset', async () => {
    const mailOf = (index: number): string => `p-${index}@example.com`;
    const records = [
      ...range(1_000).map((index) => ({ ...EMPLOYEE, externalId: `hr-${index}`, email: mailOf(index) })),
      ...range(1_000).map((index) => ({ ...BUCKET, externalId: `by-id-${index}`, owner: `hr-${index}` })),
      ...range(1_000).map((index) => {
        const { owner: _, ...bucket } = BUCKET;
        return { ...bucket, externalId: `by-mail-${index}`, ownerEmail: mailOf(index) };
      }),
    ];
    await setting.importAll(...records);
    await setting.database.admin.query('ANALYZE asset');
    const others = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;
    /** Connections count what they read when they end, or some time later. */
    const read = async (): Promise<number> => {
      while ((await setting.database.admin.query(others)).rows.length > 0) await delay(20);
      const { rows } = await setting.database.admin.query<{ n: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_user_tables WHERE relname = 'asset'`,
      );
      return rows[0]?.n as number;
    };
    const before = await read();

    const report = await setting.run(setting.ndjson(...records), { missing: 'hide', dryRun: true });

    expect(report).toMatchObject({ read: 3_000, unchanged: 3_000 });
    expect((await read()) - before).toBeLessThan(10 * 3_000);
  });

  it('counts and refuses what the import after it does, whatever the records', async () => {
    const run = async (records: readonly Row[], options: Partial<ImportOptions>) =>
      setting.run(setting.ndjson(...records), { createTagKeys: 'platform', ...options });
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyRecord, { maxLength: 25 }),
        fc.array(anyRecord, { minLength: 1, maxLength: 40 }),
        fc.constantFrom('keep' as const, 'hide' as const),
        fc.constantFrom(1, 3, 8, 100),
        fc.boolean(),
        fc.constantFrom({}, { rekeyBy: 'serialNumber' as const }),
        async (before, records, missing, batchSize, strict, rekey) => {
          const options = { missing, batchSize, strict, ...rekey };
          await setting.enterWorkspace();
          await run(before, {});
          const untouched = await setting.everything();

          const dry = await run(records, { ...options, dryRun: true });

          expect(await setting.everything()).toBe(untouched);
          expect(await run(records, options)).toEqual({ ...dry, dryRun: false });
        },
      ),
      { numRuns: 8, interruptAfterTimeLimit: 60_000 },
    );
  });
});

const range = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);
const maybe = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(values, { nil: undefined, freq: 2 });
const people = fc.constantFrom('hr-1', 'hr-2', 'hr-3');
const mails = fc.constantFrom('a@example.com', 'A@example.com', 'b@example.com');
const ids = fc.constantFrom(ID, OTHER_ID);
const common = {
  name: fc.constantFrom('a', 'b'),
  visibility: fc.constantFrom('ACTIVE', 'ACTIVE', 'HIDDEN'),
  id: fc.option(ids, { nil: undefined, freq: 1 }),
  tags: maybe(fc.uniqueArray(fc.constantFrom('env', 'k-1', 'k-2'), { maxLength: 2 })).map((keys) =>
    keys?.map((key) => ({ key })),
  ),
};
const anyOwner = fc.oneof(
  fc.constant({}),
  people.map((owner) => ({ owner })),
  ids.map((ownerId) => ({ ownerId })),
  mails.map((ownerEmail) => ({ ownerEmail })),
);
const check = fc.constantFrom(true, false, null);
const anyRecord: fc.Arbitrary<Row> = fc
  .tuple(
    fc.oneof(
      fc.record({ categoryKey: fc.constant('EMPLOYEE'), externalId: people, email: maybe(mails), ...common }),
      fc.record({
        categoryKey: fc.constantFrom('INFORMATION', 'CUSTOM'),
        externalId: fc.integer({ min: 1, max: 12 }).map((number) => `ds-${number}`),
        ...common,
      }),
      fc.record({
        categoryKey: fc.constant('COMPUTER'),
        externalId: fc.integer({ min: 1, max: 12 }).map((number) => `c-${number}`),
        serialNumber: maybe(fc.constantFrom('S1', 'S2', 'S3', 'S4', 'S5')),
        managed: check,
        compliance: maybe(fc.record({ antivirusInstalled: check, screenLockEnabled: check })),
        lastCheckedAt: maybe(fc.constantFrom('2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z')),
        ...common,
      }),
    ),
    anyOwner,
  )
  .map(([record, owner]) => ({ ...record, ...owner }));
