import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DataSource } from 'typeorm';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform';
import { DemoService, type ImportError, type ImportOptions, ImportsService, TagKeysService } from '#libs/inventory';
import { dataSourceOptions } from '../../libs/platform/src/database/data-source';
import { ImportFilesSystem } from '../../libs/inventory/src/system/import-files.system';
import { ImportStoreTypeorm } from '../../libs/inventory/src/typeorm/import-store.typeorm';
import { TagKeyRepositoryTypeorm } from '../../libs/inventory/src/typeorm/tag-key-repository.typeorm';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

type Row = Record<string, unknown>;

const EMPLOYEE = { categoryKey: 'EMPLOYEE', externalId: 'hr-17', name: 'Ada Okafor', email: 'ada@example.com' };
const BUCKET = {
  categoryKey: 'CLOUD',
  type: 'CLOUD_STORAGE_BUCKET',
  externalId: 'arn:aws:s3:::logs',
  name: 'logs',
  accountId: '123456789012',
  region: 'eu-west-1',
  classification: 'INTERNAL',
  description: 'Access logs',
  owner: 'hr-17',
  tags: [{ key: 'env' }, { key: 'aws:stack', value: 'prod' }],
  createdAt: '2026-01-02T03:04:05Z',
  lastCheckedAt: '2026-11-01T00:00:00Z',
};
const LAPTOP = {
  categoryKey: 'COMPUTER',
  externalId: 'C02XK',
  name: 'ada-mbp',
  serialNumber: 'C02XK',
  operatingSystem: 'macOS',
  osVersion: '15.1',
  owner: 'hr-17',
  managed: true,
  compliance: {
    agentVersion: '2.4.0',
    antivirusInstalled: true,
    passwordManagerInstalled: null,
    screenLockEnabled: false,
  },
};
const RECORDS = {
  categoryKey: 'INFORMATION',
  externalId: 'ds-1',
  name: 'Patient records',
  dataStored: { containsPatientData: true, userDataInfo: 'tab\there, back\\slash and\nnewline' },
};
const PRINTER = { categoryKey: 'CUSTOM', externalId: 'c-1', name: 'Badge printer 🖨', visibility: 'HIDDEN' };
const ALL = [EMPLOYEE, BUCKET, LAPTOP, RECORDS, PRINTER];

describe('Import', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let imports: ImportsService;
  let demo: DemoService;
  let tagKeys: TagKeysService;
  let here: WorkspaceId;
  let directory: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = new DataSource(
      dataSourceOptions({ url: database.migrationDatabaseUrl, poolSize: 4, patience: 'operator' }, () => undefined),
    );
    await dataSource.initialize();
    const keys = new TagKeyRepositoryTypeorm(new Database(dataSource));
    imports = new ImportsService(new ImportStoreTypeorm(dataSource), new ImportFilesSystem());
    tagKeys = new TagKeysService(keys);
    demo = new DemoService(imports, keys);
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
  });
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await dataSource.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    here = await aWorkspace();
    await tagKeys.create(here, { key: 'env', value: 'production', platform: false });
    await tagKeys.create(here, { key: 'aws:stack', value: null, platform: true });
  });

  async function aWorkspace(): Promise<WorkspaceId> {
    const { rows } = await database.admin.query<{ id: string }>(
      `INSERT INTO workspace (slug, name) VALUES ('w-' || $1, 'W') RETURNING id`,
      [randomUUID().slice(0, 8)],
    );
    return workspaceId((rows[0] as { id: string }).id);
  }
  const file = (content: string | Buffer, name = `${randomUUID()}.ndjson`): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const ndjson = (...records: unknown[]): string => file(records.map((record) => JSON.stringify(record)).join('\n'));
  const run = (path: string | readonly string[], options: Partial<ImportOptions> = {}) =>
    imports.run(here, {
      source: 'test',
      files: typeof path === 'string' ? [path] : path,
      dryRun: false,
      missing: 'keep',
      createTagKeys: null,
      ...options,
    });
  const importAll = (...records: unknown[]) => run(ndjson(...records));
  const rowsOf = async (table: string): Promise<Row[]> => {
    const { rows } = await database.admin.query<Row>(
      `SELECT * FROM ${table} WHERE workspace_id = $1 ORDER BY 1, 2, 3`,
      [here],
    );
    return rows;
  };
  const asset = async (externalId: string): Promise<Row> => {
    const { rows } = await database.admin.query<Row>(
      'SELECT * FROM asset WHERE workspace_id = $1 AND external_id = $2',
      [here, externalId],
    );
    return rows[0] as Row;
  };
  const everything = async () =>
    JSON.stringify(await Promise.all(['asset', 'asset_tag', 'computer', 'tag_key', 'facet_count'].map(rowsOf)));
  const change = async (sql: string) => {
    await database.admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [here]);
    await database.admin.query(sql);
  };
  const wrongCounters = async () => {
    const { rows } = await database.admin.query<Row>(
      `SELECT * FROM (SELECT workspace_id, sub_key, facet, count(*) AS n FROM asset WHERE facet IS NOT NULL GROUP BY 1, 2, 3) AS counted
         FULL JOIN (SELECT * FROM facet_count WHERE n <> 0) AS kept USING (workspace_id, sub_key, facet, n)
        WHERE counted IS NULL OR kept IS NULL`,
    );
    return rows;
  };
  const counts = { read: 0, created: 0, updated: 0, unchanged: 0, hidden: 0, failed: 0, errors: [], dryRun: false };

  afterEach(async () => {
    expect(await wrongCounters()).toEqual([]);
  });

  it('brings every kind of record in with every member', async () => {
    expect(await importAll(...ALL)).toEqual({ ...counts, read: 5, created: 5 });
    const owner = (await asset('hr-17'))['public_id'];
    expect(await asset('arn:aws:s3:::logs')).toMatchObject({
      sub_key: 10,
      visibility: 0,
      classification: 2,
      description: 'Access logs',
      owner_id: owner,
      owner_source: 3,
      account_id: '123456789012',
      region: 'eu-west-1',
      version: 1,
      created_at: new Date('2026-01-02T03:04:05Z'),
      last_checked_at: new Date('2026-11-01T00:00:00Z'),
      tags: [
        { key: 'aws:stack', value: 'prod', readOnly: true },
        { key: 'env', value: 'production', readOnly: false },
      ],
    });
    expect(await asset('C02XK')).toMatchObject({
      serial_number: 'C02XK',
      operating_system: 'macOS',
      os_version: '15.1',
    });
    expect((await rowsOf('computer'))[0]).toMatchObject({
      managed: true,
      agent_version: '2.4.0',
      antivirus_installed: true,
      disk_encryption_enabled: null,
      password_manager_installed: null,
      screen_lock_enabled: false,
    });
    expect(await asset('ds-1')).toMatchObject({
      contains_patient_data: true,
      contains_user_data: null,
      user_data_info: 'tab\there, back\\slash and\nnewline',
    });
    expect(await asset('c-1')).toMatchObject({ name: 'Badge printer 🖨', visibility: 1, facet: null });
    expect(await rowsOf('asset_tag')).toHaveLength(2);
  });

  it('finds nothing to do the second time, and leaves every row as it is', async () => {
    await importAll(...ALL);
    const before = await everything();
    expect(await importAll(...ALL)).toEqual({ ...counts, read: 5, unchanged: 5 });
    expect(await everything()).toBe(before);
  });

  it('updates what changed, keeping the ids, and raises the version once', async () => {
    await importAll(...ALL);
    const before = await asset('arn:aws:s3:::logs');
    const changed = { ...BUCKET, name: 'access-logs', owner: null, tags: [{ key: 'env' }] };
    const safer = { ...LAPTOP, compliance: { ...LAPTOP.compliance, screenLockEnabled: true } };
    expect(await importAll(EMPLOYEE, changed, safer)).toEqual({ ...counts, read: 3, updated: 2, unchanged: 1 });
    const after = await asset('arn:aws:s3:::logs');
    expect(after).toMatchObject({
      id: before['id'],
      public_id: before['public_id'],
      version: 2,
      name: 'access-logs',
      owner_id: null,
      owner_source: null,
      tags: [{ key: 'env', value: 'production', readOnly: false }],
    });
    expect(await rowsOf('asset_tag')).toHaveLength(1);
    expect((await rowsOf('computer'))[0]).toMatchObject({ screen_lock_enabled: true });
  });

  it('keeps the time of creation of the first import when the record has none', async () => {
    await importAll(PRINTER);
    const before = await asset('c-1');
    expect((await importAll({ ...PRINTER, name: 'Other' })).updated).toBe(1);
    expect((await asset('c-1'))['created_at']).toEqual(before['created_at']);
  });

  it('never overwrites what was set through the API, field by field', async () => {
    await importAll(...ALL);
    await change(`UPDATE asset SET api_set = 15, owner_id = NULL, owner_source = NULL, description = 'Ours',
      classification = 3, tags = '[{"key": "aws:stack", "value": "prod", "readOnly": true}]' WHERE external_id = 'arn:aws:s3:::logs' AND workspace_id = '${here}'`);
    await change(`DELETE FROM asset_tag USING tag_key
      WHERE tag_key.id = tag_key_id AND tag_key.key = 'env' AND asset_tag.workspace_id = '${here}'`);
    const changed = {
      ...BUCKET,
      region: 'us-east-1',
      description: 'Theirs',
      tags: [{ key: 'env' }, { key: 'aws:stack', value: 'dev' }],
    };
    expect((await importAll(EMPLOYEE, changed)).updated).toBe(1);
    expect(await asset('arn:aws:s3:::logs')).toMatchObject({
      region: 'us-east-1',
      owner_id: null,
      description: 'Ours',
      classification: 3,
      tags: [{ key: 'aws:stack', value: 'dev', readOnly: true }],
    });
    expect(await rowsOf('asset_tag')).toEqual([expect.objectContaining({ value: 'dev' })]);
    expect((await importAll(EMPLOYEE, changed)).unchanged).toBe(2);
  });

  describe('owners', () => {
    it('may come later than what they own, also by way of another owner', async () => {
      const chain = [
        { ...BUCKET, owner: 'hr-1' },
        { ...EMPLOYEE, externalId: 'hr-1', owner: 'hr-2' },
        { ...EMPLOYEE, externalId: 'hr-2', owner: 'hr-3' },
        { ...EMPLOYEE, externalId: 'hr-3' },
      ];
      expect(await importAll(...chain)).toEqual({ ...counts, read: 4, created: 4 });
      expect((await asset('arn:aws:s3:::logs'))['owner_id']).toBe((await asset('hr-1'))['public_id']);
    });

    it('are refused when they never come, are no employee, are not visible or are of another source', async () => {
      await run(ndjson({ ...EMPLOYEE, externalId: 'elsewhere' }), { source: 'other' });
      const report = await importAll(
        { ...PRINTER, externalId: 'a', owner: 'nobody' },
        { ...PRINTER, externalId: 'b', owner: 'c' },
        { ...PRINTER, externalId: 'c' },
        { ...PRINTER, externalId: 'd', owner: 'hidden' },
        { ...EMPLOYEE, externalId: 'hidden', visibility: 'HIDDEN' },
        { ...PRINTER, externalId: 'e', owner: 'elsewhere' },
        { ...PRINTER, externalId: 'f', ownerId: randomUUID() },
      );
      expect(report).toMatchObject({ read: 7, created: 2, failed: 5 });
      expect(report.errors.map(({ line }) => line)).toEqual([1, 2, 4, 6, 7]);
      expect(report.errors[0]?.reason).toBe('owner is not a visible employee of this source.');
      expect(report.errors[4]?.reason).toBe('ownerId is not a visible employee of the workspace.');
    });

    it('may be named by the public id of an employee of any source', async () => {
      const id = randomUUID();
      await run(ndjson({ ...EMPLOYEE, id }), { source: 'other' });
      expect((await importAll({ ...PRINTER, ownerId: id.toUpperCase() })).created).toBe(1);
      expect((await asset('c-1'))['owner_id']).toBe(id);
    });
  });

  it('takes the same externalId twice for two imports one after the other, also while the first waits for its owner', async () => {
    expect(await importAll(PRINTER, { ...PRINTER, name: 'B' }, { ...PRINTER, name: 'B' })).toMatchObject({
      created: 1,
      updated: 1,
      unchanged: 1,
    });
    const report = await importAll(
      { ...PRINTER, externalId: 'x', name: 'first', owner: 'late' },
      { ...PRINTER, externalId: 'x', name: 'second' },
      { ...EMPLOYEE, externalId: 'late' },
    );
    expect(report.failed).toBe(0);
    expect(await asset('x')).toMatchObject({ name: 'second', owner_id: null });
  });

  it('refuses an id that differs or is taken, and a category that changed, by line', async () => {
    const id = randomUUID();
    await importAll({ ...PRINTER, id }, RECORDS);
    const report = await importAll(
      { ...PRINTER, id: randomUUID() },
      { ...PRINTER, externalId: 'other', id },
      { ...PRINTER, externalId: 'ds-1' },
      { ...PRINTER, id },
    );
    expect(report.errors).toEqual([
      { line: 1, reason: 'The asset with this externalId has another id.' },
      { line: 2, reason: 'The id belongs to another asset.' },
      { line: 3, reason: 'The asset with this externalId is of another category.' },
    ]);
    expect(report).toMatchObject({ unchanged: 1, failed: 3 });
  });

  it('reports a bad line with its number and reason, and the rest goes on', async () => {
    const told: ImportError[] = [];
    const content = Buffer.concat([
      Buffer.from(`${JSON.stringify(EMPLOYEE)}\n\n{"broken\n[1]\n`),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from(`${JSON.stringify({ categoryKey: 'CLOUD', externalId: 'x', name: '', colour: 'red' })}\n`),
      Buffer.from(`${'x'.repeat(1_100_000)}\n`),
      Buffer.from(`${JSON.stringify({ ...BUCKET, tags: [{ key: 'nope' }] })}\n`),
      Buffer.from(JSON.stringify(RECORDS)),
    ]);
    const report = await run(file(content), { onError: (error) => told.push(error) });
    expect(report).toMatchObject({ read: 8, created: 2, failed: 6 });
    expect([...report.errors].sort((a, b) => a.line - b.line)).toEqual([
      { line: 3, reason: 'The line is not JSON.' },
      { line: 4, reason: 'The record is not an object.' },
      { line: 5, reason: 'The line is not UTF-8.' },
      {
        line: 6,
        reason: expect.stringMatching(
          /name is required\..*colour is not a member of CLOUD records\..*type is required/,
        ) as string,
      },
      { line: 7, reason: 'The line is longer than 1048576 bytes.' },
      { line: 8, reason: 'tags: the key "nope" does not exist in the workspace.' },
    ]);
    expect(told).toEqual(report.errors);
  });

  it('makes unknown tag keys as keys of the platform only when told to', async () => {
    const tagged = {
      ...PRINTER,
      tags: [{ key: 'new', value: 'v "quoted" \\ 🏷' }, { key: 'Z' }, { key: '😀' }, { key: 'ﬀ' }],
    };
    expect((await importAll(tagged)).failed).toBe(1);
    expect((await run(ndjson(tagged), { createTagKeys: 'platform' })).created).toBe(1);
    // By code points: Z, new, ﬀ (U+FB00), 😀 (U+1F600); UTF-16 would put the last two the other way round.
    expect((await asset('c-1'))['tags']).toEqual([
      { key: 'Z', value: '', readOnly: true },
      { key: 'new', value: 'v "quoted" \\ 🏷', readOnly: true },
      { key: 'ﬀ', value: '', readOnly: true },
      { key: '😀', value: '', readOnly: true },
    ]);
    expect((await tagKeys.list(here)).map(({ key }) => key)).toEqual(['Z', 'aws:stack', 'env', 'new', 'ﬀ', '😀']);
  });

  it('reads CSV with columns named by path', async () => {
    const csv = [
      'categoryKey,externalId,name,owner,managed,compliance.agentVersion,compliance.screenLockEnabled,tags.0.key,tags.1.key,tags.1.value',
      'EMPLOYEE,hr-17,"Okafor, Ada",,,,,,,',
      'COMPUTER,C1,"say ""hi""",hr-17,true,2.4.0,false,env,aws:stack,prod',
      'COMPUTER,C2,x,,maybe,,,,,',
    ].join('\r\n');
    const report = await run(file(csv, 'a.csv'));
    expect(report).toMatchObject({
      read: 3,
      created: 2,
      failed: 1,
      errors: [{ line: 4, reason: 'managed must be true or false.' }],
    });
    expect(await asset('C1')).toMatchObject({ name: 'say "hi"' });
    expect((await rowsOf('computer'))[0]).toMatchObject({
      managed: true,
      agent_version: '2.4.0',
      screen_lock_enabled: false,
    });
    expect(((await asset('C1'))['tags'] as unknown[]).length).toBe(2);
  });

  it('reads several files, gzipped ones too, and names the file of a bad line', async () => {
    const plain = ndjson(EMPLOYEE, {});
    const zipped = file(gzipSync(JSON.stringify(BUCKET)), 'b.ndjson.gz');
    const report = await run([plain, zipped]);
    expect(report).toMatchObject({ read: 3, created: 2, failed: 1, errors: [{ file: plain, line: 2 }] });
  });

  it('writes nothing in a dry run, yet tells exactly what would happen', async () => {
    await importAll(EMPLOYEE, PRINTER);
    const before = await everything();
    const input = ndjson(EMPLOYEE, BUCKET, { ...PRINTER, name: 'x', tags: [{ key: 'brand-new' }] }, {});
    const options = { missing: 'hide', createTagKeys: 'platform' } as const;
    const dry = await run(input, { ...options, dryRun: true });
    expect(await everything()).toBe(before);
    expect({ ...dry, dryRun: false }).toEqual(await run(input, options));
    expect(dry).toMatchObject({ read: 4, created: 1, updated: 1, unchanged: 1, failed: 1 });
  });

  describe('--missing hide', () => {
    it('hides what the input does not name, of this source only, and nothing else', async () => {
      await run(ndjson({ ...RECORDS, externalId: 'theirs' }), { source: 'other' });
      await importAll(...ALL, { ...RECORDS, externalId: 'gone' }, { ...RECORDS, externalId: 'waiting' });
      const report = await run(
        ndjson(EMPLOYEE, BUCKET, LAPTOP, RECORDS, { ...RECORDS, externalId: 'waiting', owner: 'nobody' }),
        {
          missing: 'hide',
        },
      );
      expect(report).toMatchObject({ hidden: 1, failed: 1 });
      expect((await asset('gone'))['visibility']).toBe(1);
      expect((await asset('theirs'))['visibility']).toBe(0);
      expect((await asset('waiting'))['visibility']).toBe(0);
    });

    it('spares an asset whose line was bad, and hides nothing when a line could not be read at all', async () => {
      await importAll(EMPLOYEE, RECORDS, { ...RECORDS, externalId: 'gone' });
      const bad = { ...RECORDS, classification: 'SECRET' };
      expect(await run(ndjson(EMPLOYEE, bad, {}), { missing: 'hide' })).toMatchObject({ hidden: 0, failed: 2 });
      expect(await run(ndjson(EMPLOYEE, bad), { missing: 'hide' })).toMatchObject({ hidden: 1, failed: 1 });
      expect((await asset('ds-1'))['visibility']).toBe(0);
    });

    it('shows again what comes back', async () => {
      await importAll(EMPLOYEE, RECORDS);
      await run(ndjson(EMPLOYEE), { missing: 'hide' });
      expect((await importAll(RECORDS)).updated).toBe(1);
      expect((await asset('ds-1'))['visibility']).toBe(0);
    });
  });

  it('refuses a second import of the same source at the same time, and not one of another source', async () => {
    const store = new ImportStoreTypeorm(dataSource);
    const settings = { source: 'test', dryRun: false, createTagKeys: false, hideMissing: false };
    const session = await store.open(here, settings);
    await expect(importAll(EMPLOYEE)).rejects.toThrow('already running');
    expect((await run(ndjson(EMPLOYEE), { source: 'other' })).created).toBe(1);
    await session.close(true);
    expect((await importAll(EMPLOYEE)).created).toBe(1);
  });

  it('goes on where it was interrupted when it is run again', async () => {
    const records = Array.from({ length: 12_000 }, (_, index) => ({ ...RECORDS, externalId: `ds-${index}` }));
    const failing = async function* () {
      for (const [index, value] of records.entries()) {
        if (index === 11_000) throw new Error('the power went');
        yield await Promise.resolve({ fileIndex: 0, line: index + 1, value });
      }
    };
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    await expect(imports.runLines(here, options, failing(), () => undefined)).rejects.toThrow('the power went');
    const report = await importAll(...records);
    expect(report).toMatchObject({ read: 12_000, created: 2_000, unchanged: 10_000 });
  }, 30_000);

  it('lets imports of two sources run side by side in one workspace, again and again', async () => {
    const records = (prefix: string, round: number) =>
      Array.from({ length: 300 }, (_, index) => ({
        ...RECORDS,
        externalId: `${prefix}-${index}`,
        classification: ['PUBLIC', 'INTERNAL', 'CONFIDENTIAL'][(index + round) % 3],
      }));
    for (let round = 0; round < 5; round += 1) {
      const reports = await Promise.all(['a', 'b'].map((source) => run(ndjson(...records(source, round)), { source })));
      for (const report of reports) expect(report.failed).toBe(0);
    }
  }, 30_000);

  it('touches no other workspace', async () => {
    await importAll(...ALL);
    const before = await everything();
    const first = here;
    here = await aWorkspace();
    await run(ndjson(...ALL), { createTagKeys: 'platform' });
    await run(ndjson(EMPLOYEE), { missing: 'hide' });
    here = first;
    expect(await everything()).toBe(before);
  });

  it('deletes a tag key from the assets that carry it', async () => {
    await importAll(EMPLOYEE, BUCKET, { ...RECORDS, tags: [{ key: 'env' }] });
    expect(await tagKeys.delete(here, 'env')).toEqual({ assets: 2 });
    expect(await asset('arn:aws:s3:::logs')).toMatchObject({
      version: 2,
      tags: [{ key: 'aws:stack', value: 'prod', readOnly: true }],
    });
    expect((await asset('ds-1'))['tags']).toEqual([]);
    expect(await rowsOf('asset_tag')).toHaveLength(1);
    expect(await tagKeys.delete(here, 'env')).toBeNull();
  });

  it('loads the demo, the same every time, with something for every filter at size M', async () => {
    expect(await demo.load(here, 'S')).toMatchObject({ read: 500, created: 500, failed: 0 });
    expect(await demo.load(here, 'S')).toMatchObject({ read: 500, unchanged: 500, failed: 0 });
    here = await aWorkspace();
    const report = await demo.load(here, 'M');
    expect(report).toMatchObject({ read: 10_000, created: 10_000, failed: 0 });
    const { rows } = await database.admin.query<{ kinds: string }>(
      `SELECT count(*) AS kinds FROM facet_count WHERE workspace_id = $1 AND n > 0 AND sub_key <> 15`,
      [here],
    );
    expect(Number(rows[0]?.kinds)).toBe(14 * 16);
    const { rows: unmonitored } = await database.admin.query<{ n: string }>(
      `SELECT count(*) AS n FROM visible_computer WHERE workspace_id = $1 AND NOT is_monitored`,
      [here],
    );
    expect(Number(unmonitored[0]?.n)).toBeGreaterThan(50);
  }, 60_000);
});
