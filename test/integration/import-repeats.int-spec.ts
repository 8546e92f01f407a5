import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type ImportOptions } from '#libs/inventory/operators';
import { BUCKET, EMPLOYEE, ImportSetting, PRINTER, RECORDS, type Row } from '../support/import-setting';

describe('A repeated externalId within an import', () => {
  let setting: ImportSetting;
  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  const printer = (externalId: string, name: string, more: Row = {}): Row => ({
    ...PRINTER,
    externalId,
    name,
    ...more,
  });

  /** Runs an import and checks that every line is counted once. */
  async function run(path: string | readonly string[], options: Partial<ImportOptions> = {}) {
    const report = await setting.run(path, options);
    expect(report.created + report.updated + report.unchanged + report.failed).toBe(report.read);
    return report;
  }

  it.each([
    ['in one batch', 5_000],
    ['in batches that follow each other', 1],
    ['in batches far apart', 2],
  ])(
    'is a bad line that names the first line, or with the same values a warning, %s, in every run',
    async (_, batchSize) => {
      const file = setting.ndjson(
        printer('x', 'first'),
        ...Array.from({ length: 7 }, (__, index) => printer(`c-${index}`, 'other')),
        printer('x', 'second'),
        printer('x', 'first', { owner: null, description: '' }),
      );
      const [second, third] = [9, 10].map((line) => ({ line, reason: 'externalId is already on line 1.' }));
      const told = { read: 10, failed: 1, errors: [second], warned: 1, warnings: [third] };

      expect(await run(file, { batchSize })).toMatchObject({ ...told, created: 8, unchanged: 1 });
      expect(await run(file, { batchSize })).toMatchObject({ ...told, created: 0, unchanged: 9 });
      expect(await run(file, { batchSize, strict: true })).toMatchObject({
        ...{ unchanged: 8, failed: 2, errors: [second, third], warned: 0 },
      });

      expect(await setting.asset('x')).toMatchObject({ name: 'first', version: 1 });
    },
  );

  it('is found across files, NDJSON, CSV and gzip, with file and line', async () => {
    const one = setting.ndjson(EMPLOYEE, printer('x', 'first'));
    const two = setting.file('categoryKey,externalId,name\nCUSTOM,y,first\nCUSTOM,x,second\n', 'repeats.csv');
    const three = setting.file(gzipSync(JSON.stringify(printer('y', 'second'))), 'repeats.ndjson.gz');

    const report = await run([one, two, three]);

    expect(report).toMatchObject({ read: 5, created: 3, failed: 2 });
    expect(report.errors).toEqual([
      { file: two, line: 3, reason: `externalId is already on line 2 of ${basename(one)}.` },
      { file: three, line: 1, reason: `externalId is already on line 2 of ${basename(two)}.` },
    ]);
  });

  it('is found while the first line waits for its owner', async () => {
    const report = await run(
      setting.ndjson(
        printer('x', 'first', { owner: 'late' }),
        printer('x', 'second'),
        { ...EMPLOYEE, externalId: 'late' },
        printer('x', 'third'),
      ),
      { batchSize: 2 },
    );

    expect(report).toMatchObject({ read: 4, created: 2, failed: 2 });
    expect(report.errors.map(({ line }) => line)).toEqual([2, 4]);
    expect((await setting.asset('x'))['name']).toBe('first');
  });

  it('is bad even when the first line was bad', async () => {
    const bad = printer('x', 'first', { classification: 'SECRET' });

    const report = await run(setting.ndjson(bad, printer('x', 'second'), { ...bad, name: 'third' }));

    expect(report).toMatchObject({ read: 3, created: 0, failed: 3 });
    expect(report.errors[1]).toEqual({ line: 2, reason: 'externalId is already on line 1.' });
    expect(report.errors[2]?.reason).toMatch(/^classification .*externalId is already on line 1\.$/);
  });

  it('hides no asset that a line names', async () => {
    await run(setting.ndjson(EMPLOYEE, BUCKET, RECORDS));

    const report = await run(setting.ndjson(BUCKET, EMPLOYEE, { ...BUCKET, name: 'b' }), { missing: 'hide' });

    expect(report).toMatchObject({ read: 3, unchanged: 2, failed: 1, hidden: 1 });
    expect((await setting.asset(BUCKET.externalId))['visibility']).toBe(0);
  });

  it('is accepted in another source or another run', async () => {
    expect(await run(setting.ndjson(EMPLOYEE))).toMatchObject({ created: 1 });
    expect(await run(setting.ndjson(EMPLOYEE), { source: 'other' })).toMatchObject({ created: 1 });
    expect(await run(setting.ndjson(EMPLOYEE))).toMatchObject({ unchanged: 1 });
  });
});
