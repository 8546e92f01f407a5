import { randomUUID } from 'node:crypto';
import { ImportsService } from '#libs/inventory/operators';
import { Database, dataSourceOptions, poolOf } from '#libs/platform/database';
import { DataSource } from 'typeorm';
import { ImportRunsTypeorm } from '../../libs/inventory/src/imports/typeorm/import-runs.typeorm';
import type { InputLine } from '../../libs/inventory/src/imports/domain/import-files.port';
import { ImportFilesSystem } from '../../libs/inventory/src/imports/system/import-files.system';
import { ImportStoreTypeorm } from '../../libs/inventory/src/imports/typeorm/import-store.typeorm';
import { anAuditRecorder } from '../support/audit-recorder';
import { EMPLOYEE, ImportSetting } from '../support/import-setting';

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

  it('that fails has no length of standard input', async () => {
    class FailingFiles extends ImportFilesSystem {
      override sizeOf(file: string): number | null {
        return file === '-' ? null : 1_000;
      }

      override async *read(
        ...[, onBytes]: Parameters<ImportFilesSystem['read']>
      ): AsyncGenerator<readonly InputLine[]> {
        onBytes({ bytesRead: 400, bytesTotal: null });
        yield [{ fileIndex: 0, line: 1, value: EMPLOYEE }];
        throw new Error('the disk');
      }
    }
    const imports = new ImportsService(
      new ImportStoreTypeorm(setting.dataSource, anAuditRecorder()),
      new FailingFiles(),
    );
    const options = { source: 'test', dryRun: false, missing: 'keep', createTagKeys: null } as const;

    await expect(imports.run(setting.here, { ...options, files: ['a.ndjson', '-'] })).rejects.toThrow('the disk');

    expect(await setting.rowsOf('import_run')).toMatchObject([
      {
        outcome: 'FAILED',
        files: [
          { name: 'a.ndjson', bytes: 1_000 },
          { name: '-', bytes: null },
        ],
      },
    ]);
  });

  it.each([
    ['an operator', 'migrationDatabaseUrl', 1],
    ['a person, whose role owns no table', 'consoleDatabaseUrl', 0],
  ] as const)('of %s makes statistics if it can', async (_, address, times) => {
    const connection = { url: setting.database[address], poolSize: 2, patience: 'operator' } as const;
    const dataSource = await new DataSource(dataSourceOptions(connection, () => undefined)).initialize();
    const warnings: unknown[] = [];
    poolOf(dataSource).on('acquire', (client) => client.on('notice', ({ message }) => warnings.push(message)));
    const store = new ImportStoreTypeorm(dataSource, anAuditRecorder());
    const imports = new ImportsService(times === 1 ? store : store.asPerson(randomUUID()), new ImportFilesSystem());
    const records = Array.from({ length: 2_000 }, (__, at) => ({ ...EMPLOYEE, externalId: `e-${at}`, email: null }));
    const analyzed = async (): Promise<number> => {
      const count = `SELECT analyze_count AS n FROM pg_stat_user_tables WHERE relname = 'asset'`;
      return Number((await setting.database.admin.query<{ n: string }>(count)).rows[0]?.n);
    };
    const before = await analyzed();
    const options = { source: 'test', dryRun: false, missing: 'keep', createTagKeys: null } as const;

    const report = await imports.run(setting.here, { ...options, files: [setting.ndjson(...records)] });
    await dataSource.destroy();

    expect(report).toMatchObject({ created: 2_000, failed: 0 });
    expect((await analyzed()) - before).toBe(times);
    expect(warnings).toEqual([]);
  });
});
