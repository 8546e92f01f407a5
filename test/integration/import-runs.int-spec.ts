import { randomBytes, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ImportStoreTypeorm } from '../../libs/inventory/src/imports/typeorm/import-store.typeorm';
import {
  ALL,
  BUCKET,
  EMPLOYEE,
  ImportSetting,
  LAPTOP,
  PLAIN_SETTINGS,
  RECORDS,
  type Row,
} from '../support/import-setting';
import { anAuditRecorder } from '../support/audit-recorder';

describe('The importer', () => {
  let setting: ImportSetting;

  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());
  afterEach(async () => {
    expect(await setting.wrongCounters()).toEqual([]);
  });

  it('reads CSV with columns named by path', async () => {
    const csv = [
      'categoryKey,externalId,name,owner,managed,compliance.agentVersion,compliance.screenLockEnabled,tags.0.key,tags.1.key,tags.1.value',
      'EMPLOYEE,hr-17,"Okafor, Ada",,,,,,,',
      'COMPUTER,C1,"say ""hi""",hr-17,true,2.4.0,false,env,aws:stack,prod',
      'COMPUTER,C2,x,,maybe,,,,,',
    ].join('\r\n');
    const report = await setting.run(setting.file(csv, 'a.csv'));
    expect(report).toMatchObject({
      read: 3,
      created: 2,
      failed: 1,
      errors: [{ line: 4, reason: 'managed must be true or false.' }],
    });
    expect(await setting.asset('C1')).toMatchObject({ name: 'say "hi"' });
    expect((await setting.rowsOf('computer'))[0]).toMatchObject({
      managed: true,
      agent_version: '2.4.0',
      screen_lock_enabled: false,
    });
    expect(((await setting.asset('C1'))['tags'] as unknown[]).length).toBe(2);
  });

  it('reads several files, also gzipped, and names the file of a bad line', async () => {
    const plain = setting.ndjson(EMPLOYEE, {});
    const zipped = setting.file(gzipSync(JSON.stringify(BUCKET)), 'b.ndjson.gz');
    const report = await setting.run([plain, zipped]);
    expect(report).toMatchObject({ read: 3, created: 2, failed: 1, errors: [{ file: plain, line: 2 }] });
  });

  it('recognizes CSV and gzip by the file extension in either case', async () => {
    const zipped = setting.file(gzipSync('categoryKey,externalId,name\nCUSTOM,c-1,Printer'), 'C.CSV.GZ');
    expect(await setting.run(zipped)).toMatchObject({ read: 1, created: 1, failed: 0 });
  });

  it.each([
    ['is cut off', (zipped: Buffer) => zipped.subarray(0, -9)],
    ['is not gzip', () => Buffer.from(JSON.stringify(BUCKET))],
    ['goes on as something else', (zipped: Buffer) => Buffer.concat([zipped.subarray(0, 20), randomBytes(100)])],
  ])('names the gzipped file that %s', async (_, spoil) => {
    const good = setting.file(gzipSync(JSON.stringify(EMPLOYEE)), `${randomUUID()}.ndjson.gz`);
    for (const ending of ['ndjson.gz', 'csv.gz']) {
      const bad = setting.file(spoil(gzipSync(JSON.stringify(RECORDS))), `${randomUUID()}.${ending}`);
      await expect(setting.run([good, bad])).rejects.toThrow(`${bad} cannot be unzipped: `);
    }
  });

  it('reads CSV beyond an overlong row, and reports where an open quote ended it', async () => {
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `CUSTOM,c-${from + index},Printer`).join('\n');
    const around = (row: string) =>
      setting.file(
        `categoryKey,externalId,name\r\n${rows(0, 100)}\n${row}\n${rows(100, 20_100)}`,
        `${randomUUID()}.csv`,
      );
    const options = { missing: 'hide' } as const;
    const long = await setting.run(around(`CUSTOM,long,${'x'.repeat(1_200_000)}`), options);
    expect(long).toMatchObject({ read: 20_101, created: 20_100, hidden: 0, failed: 1, errors: [{ line: 102 }] });
    const open = await setting.run(around('CUSTOM,open,"Printer'), options);
    expect(open).toMatchObject({ read: 101, unchanged: 100, hidden: 0, failed: 1 });
    expect(open.errors[0]?.reason).toContain('Nothing after line 102 was read.');
  });

  describe('--missing hide', () => {
    it('hides assets of this source that the input lacks, and nothing else', async () => {
      await setting.run(setting.ndjson({ ...RECORDS, externalId: 'theirs' }), { source: 'other' });
      await setting.importAll(...ALL, { ...RECORDS, externalId: 'gone' }, { ...RECORDS, externalId: 'waiting' });
      const report = await setting.run(
        setting.ndjson(EMPLOYEE, BUCKET, LAPTOP, RECORDS, { ...RECORDS, externalId: 'waiting', owner: 'nobody' }),
        {
          missing: 'hide',
        },
      );
      expect(report).toMatchObject({ hidden: 1, failed: 0, warned: 1 });
      expect((await setting.asset('gone'))['visibility']).toBe(1);
      expect((await setting.asset('theirs'))['visibility']).toBe(0);
      expect((await setting.asset('waiting'))['visibility']).toBe(0);
    });

    it('keeps an asset whose line was bad, and hides nothing when a line was unreadable', async () => {
      await setting.importAll(EMPLOYEE, RECORDS, { ...RECORDS, externalId: 'gone' });
      const bad = { ...RECORDS, classification: 'SECRET' };
      expect(await setting.run(setting.ndjson(EMPLOYEE, bad, {}), { missing: 'hide' })).toMatchObject({
        ...{ hidden: 0, failed: 2 },
        hiddenWhy: 'The input may not name every asset: line 3 names no asset.',
      });
      expect(await setting.run(setting.ndjson(EMPLOYEE, bad), { missing: 'hide' })).toMatchObject({
        hidden: 1,
        failed: 1,
      });
      expect((await setting.asset('ds-1'))['visibility']).toBe(0);
    });

    it.each([
      ['is longer than any', randomBytes(6_000).toString('base64')],
      ['holds U+0000', 'ds-1\u0000'],
      ['holds half of a surrogate pair', 'ds-1\ud800'],
      ['is empty', ''],
    ])('completes and hides nothing when an externalId %s, which no asset can have', async (_, externalId) => {
      await setting.importAll(EMPLOYEE, { ...RECORDS, externalId: 'gone' });
      const report = await setting.run(setting.ndjson(EMPLOYEE, { ...RECORDS, externalId }), { missing: 'hide' });
      expect(report).toMatchObject({ read: 2, unchanged: 1, hidden: 0, failed: 1 });
    });

    const CRATES = Array.from({ length: 100 }, (_, index) => ({ ...RECORDS, externalId: `crate-${index}` }));

    it('hides nothing when the input names no asset, and fails', async () => {
      await setting.importAll(...CRATES.slice(0, 3));
      const before = await setting.everything();
      for (const empty of [setting.file(''), setting.file('categoryKey,externalId,name\n', `${randomUUID()}.csv`)]) {
        const report = await setting.run(empty, { missing: 'hide', hideAtMost: { percent: 100 } });
        expect(report).toMatchObject({ hidden: 0, hidingRefused: true });
        expect(report.hiddenWhy).toContain('The input named no asset, so all 3 visible assets');
      }
      expect(await setting.everything()).toBe(before);
      await setting.run(setting.ndjson(CRATES[0]), { missing: 'hide' });
      expect(await setting.run(setting.file(''), { source: 'new', missing: 'hide' })).toMatchObject({
        hidingRefused: false,
        hiddenWhy: null,
        newSource: true,
      });
    });

    it('hides nothing when too many would go, unless that is allowed, and keeps the rest of the import', async () => {
      await setting.importAll(...CRATES);
      const input = setting.ndjson({ ...CRATES[0], name: 'Renamed' }, ...CRATES.slice(21), EMPLOYEE);
      const refused = await setting.run(input, { missing: 'hide', hideAtMost: { assets: 19 } });
      expect(refused).toMatchObject({ created: 1, updated: 1, hidden: 0, hidingRefused: true });
      expect(refused.hiddenWhy).toContain('20 of the 100 visible assets of the source would be hidden');
      const half = setting.ndjson(...CRATES.slice(50), EMPLOYEE);
      for (const dryRun of [true, false]) {
        const report = await setting.run(half, { missing: 'hide', dryRun });
        expect(report).toMatchObject({ hidden: 0, hidingRefused: true });
        expect(report.hiddenWhy).toContain('50 of the 101 visible assets');
      }
      expect(await setting.run(half, { missing: 'hide', hideAtMost: { assets: 50 } })).toMatchObject({ hidden: 50 });
    });

    it('shows an asset that returns', async () => {
      await setting.importAll(EMPLOYEE, RECORDS);
      await setting.run(setting.ndjson(EMPLOYEE), { missing: 'hide' });
      expect((await setting.importAll(RECORDS)).updated).toBe(1);
      expect((await setting.asset('ds-1'))['visibility']).toBe(0);
    });
  });

  it('shows bytes before the first record, then records and warnings', async () => {
    const shown: { read: number; warned: number; bytesRead: number; bytesTotal: number | null }[] = [];
    const file = setting.ndjson(EMPLOYEE, { ...RECORDS, description: 'd'.repeat(501) });
    await setting.run(file, { onProgress: (progress) => shown.push(progress) });
    const bytes = { bytesRead: statSync(file).size, bytesTotal: statSync(file).size };
    expect(shown[0]).toMatchObject({ read: 0, warned: 0, ...bytes });
    expect(shown.at(-1)).toMatchObject({ read: 2, warned: 1, ...bytes });
  });

  it('refuses a concurrent import of the same source, and allows one of another source', async () => {
    const store = new ImportStoreTypeorm(setting.dataSource, anAuditRecorder());
    const session = await store.open(setting.here, PLAIN_SETTINGS);
    await expect(setting.importAll(EMPLOYEE)).rejects.toThrow('already running');
    expect((await setting.run(setting.ndjson(EMPLOYEE), { source: 'other' })).created).toBe(1);
    await session.close();
    expect((await setting.importAll(EMPLOYEE)).created).toBe(1);
  });

  const asked = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;

  it('continues where it was interrupted when run again', async () => {
    const records = Array.from({ length: 120 }, (_, index) => ({ ...RECORDS, externalId: `ds-${index}` }));
    const failing = async function* () {
      for (const [index, value] of records.entries()) {
        if (index === 110) throw new Error('the power went');
        yield await Promise.resolve({ fileIndex: 0, line: index + 1, value });
      }
    };
    await expect(setting.imports.runLines(setting.here, { ...asked, batchSize: 50 }, failing())).rejects.toThrow(
      'the power went',
    );
    expect(await setting.rowsOf('import_run')).toMatchObject([{ outcome: 'FAILED', counts: { created: 100 } }]);
    const completion = expect.objectContaining({ action: 'import.completed' }) as object;
    expect(await setting.rowsOf('audit_event')).not.toContainEqual(completion);
    const report = await setting.importAll(...records);
    expect(report).toMatchObject({ read: 120, created: 20, unchanged: 100 });
    expect(await setting.rowsOf('audit_event')).toContainEqual(completion);
  });

  describe('The record of an import', () => {
    const recorded = async (): Promise<Row[]> =>
      (await setting.rowsOf('import_run')).sort(
        (one, other) => Number(one['started_at']) - Number(other['started_at']),
      );
    const settle = () => setting.database.admin.query('SELECT settle_import_runs()');

    it('has the operator, the files without their paths, the counts, and reasons without values', async () => {
      const ada = { ...EMPLOYEE, email: 'ada@example.com', ownerEmail: 'nobody@example.com' };
      const wrong = { ...RECORDS, classification: 'Ada', tags: [{ key: 'Ada' }] };
      const input = [
        setting.file('{"a', 'hr.ndjson'),
        setting.ndjson(ada, wrong, { ...RECORDS, tags: [{ key: 'Ada' }] }),
      ];

      const report = await setting.run(input, { missing: 'hide' });

      const [run] = await recorded();
      const { read, created, failed, warned } = report;
      expect([read, created, failed, warned]).toEqual([4, 1, 3, 1]);
      expect(run).toMatchObject({
        ...{ source: 'test', outcome: 'COMPLETED', who: 'ops', map: null, hidden_why: report.hiddenWhy },
        options: { missing: 'hide', hideAtMost: null, createTagKeys: null, format: null },
        files: [
          { name: 'hr.ndjson', bytes: 3 },
          { name: expect.stringMatching(/^[^/]+$/) as string, bytes: expect.any(Number) as number },
        ],
        counts: { read, created, failed, warned, updated: 0, unchanged: 0, hidden: 0, skipped: 0, rekeyed: 0 },
      });
      expect(run?.['errors']).toHaveLength(3);
      expect(run?.['warnings']).toHaveLength(1);
      expect(JSON.stringify([run?.['errors'], run?.['warnings']])).not.toMatch(/Ada|nobody@|\//);
    });

    it('is not left by a dry run', async () => {
      await setting.run(setting.ndjson(EMPLOYEE), { dryRun: true });
      expect(await recorded()).toEqual([]);
    });

    it('makes its source known', async () => {
      expect(await setting.run(setting.file(''))).toMatchObject({ newSource: true });
      expect(await setting.run(setting.file(''))).toMatchObject({ newSource: false });
    });

    it('says how an import ended that did not complete, with the counts so far', async () => {
      const breaking = async function* (fault: Error) {
        yield await Promise.resolve({ fileIndex: 0, line: 1, value: RECORDS });
        yield { fileIndex: 0, line: 2, value: {} };
        throw fault;
      };
      const run = (fault: Error, onProgress: () => void) =>
        setting.imports.runLines(setting.here, { ...asked, onProgress }, breaking(fault));
      const interrupt = () => {
        throw new Error('Ctrl-C');
      };

      await expect(run(new Error('the disk'), () => undefined)).rejects.toThrow('the disk');
      await expect(run(new Error('the pipe'), interrupt)).rejects.toThrow('the pipe');

      expect(await recorded()).toMatchObject([
        { outcome: 'FAILED', counts: { read: 2, created: 0 } },
        { outcome: 'INTERRUPTED', counts: { read: 2, created: 0 } },
      ]);
    });

    it('shows counts while an import runs, and is INTERRUPTED once its process is gone and somebody looks', async () => {
      const seen: Row[][] = [];
      const lockOfImport = (): string => `pg_locks WHERE locktype = 'advisory'
        AND (classid::bigint << 32 | objid::bigint) = hashtextextended('import ${setting.here} test', 0)`;
      const lines = async function* () {
        yield { fileIndex: 0, line: 1, value: RECORDS };
        await delay(2_100);
        for (const line of [2, 3, 4]) yield { fileIndex: 0, line, value: { ...RECORDS, externalId: `ds-${line}` } };
        await setting.until(`SELECT FROM import_run WHERE workspace_id = '${setting.here}' AND counts->>'read' <> '0'`);
        await settle();
        seen.push(await recorded());
        await setting.database.admin.query(`SELECT pg_terminate_backend(pid) FROM ${lockOfImport()}`);
        yield { fileIndex: 0, line: 5, value: { ...RECORDS, externalId: 'ds-5' } };
      };
      await expect(setting.imports.runLines(setting.here, { ...asked, batchSize: 1 }, lines())).rejects.toThrow();
      expect(seen).toMatchObject([[{ outcome: 'RUNNING', ended_at: null }]]);
      expect(await recorded()).toMatchObject([{ outcome: 'RUNNING' }]);

      // A terminated session releases its lock some time later.
      await setting.until(`SELECT WHERE NOT EXISTS (SELECT FROM ${lockOfImport()})`);
      await settle();

      expect(await recorded()).toMatchObject([{ outcome: 'INTERRUPTED', ended_at: expect.any(Date) as Date }]);
    });

    it('is INTERRUPTED once the next import of the source begins', async () => {
      await setting.change(`INSERT INTO import_run (workspace_id, id, source, outcome, options, files, counts, errors, warnings)
        VALUES ('${setting.here}', gen_random_uuid(), 'test', 'RUNNING', '{}', '[]', '{}', '[]', '[]')`);
      await setting.importAll(EMPLOYEE);
      expect(await recorded()).toMatchObject([{ outcome: 'INTERRUPTED' }, { outcome: 'COMPLETED' }]);
    });

    it('is kept for 400 days', async () => {
      await setting.importAll(EMPLOYEE);
      await setting.importAll(EMPLOYEE);
      const [old] = await recorded();
      await setting.change(
        `UPDATE import_run SET started_at = now() - interval '401 days' WHERE id = '${String(old?.['id'])}'`,
      );
      await setting.change(`UPDATE import_run SET started_at = now() - interval '399 days'
        WHERE workspace_id = '${setting.here}' AND id <> '${String(old?.['id'])}'`);
      await settle();
      expect(await recorded()).toHaveLength(1);
    });
  });

  it('repeats a batch after a deadlock, including its tag keys, and loses no record', async () => {
    const { admin } = setting.database;
    // The first statement that tags waits for the test, and then fails like a deadlock.
    await admin.query(`
      CREATE SEQUENCE attempts;
      CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF nextval('attempts') > 1 THEN RETURN NULL; END IF;
        PERFORM pg_advisory_xact_lock(17);
        RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01';
      END $$;
      CREATE TRIGGER fail_once BEFORE INSERT ON asset_tag EXECUTE FUNCTION fail_once();
      SELECT pg_advisory_lock(17)`);
    const tagged = { ...RECORDS, tags: [{ key: 'made', value: 'v' }] };
    const lines = async function* () {
      yield { fileIndex: 0, line: 1, value: tagged };
      // The first batch is full, and is merged while the second is read.
      yield { fileIndex: 0, line: 2, value: { ...RECORDS, externalId: 'ds-3' } };
      await setting.until(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 17 AND NOT granted`);
      yield { fileIndex: 0, line: 3, value: { ...tagged, externalId: 'ds-2' } };
      await admin.query('SELECT pg_advisory_unlock(17)');
    };
    const options = {
      source: 'test',
      files: [],
      dryRun: false,
      missing: 'keep',
      createTagKeys: 'platform',
      batchSize: 1,
    } as const;
    try {
      const report = await setting.imports.runLines(setting.here, options, lines());
      expect(report).toMatchObject({ read: 3, created: 3, failed: 0 });
    } finally {
      await admin.query('DROP FUNCTION fail_once CASCADE; DROP SEQUENCE attempts');
    }
    expect(await setting.rowsOf('asset_tag')).toEqual([
      expect.objectContaining({ value: 'v' }),
      expect.objectContaining({ value: 'v' }),
    ]);
    expect((await setting.asset('ds-2'))['tags']).toEqual([{ key: 'made', value: 'v', readOnly: true }]);
  });

  it('warns of values of customer tags, which keep those of their keys', async () => {
    await setting.tagKeys.create(setting.here, { key: 'team', value: null, platform: false });
    const tagged = (externalId: string, env: string | null, team: string | null) => ({
      ...{ ...RECORDS, externalId },
      tags: [
        { key: 'env', value: env },
        { key: 'team', value: team },
        { key: 'aws:stack', value: 'prod' },
      ],
    });
    const input = setting.ndjson(tagged('a', 'production', ''), tagged('b', 'test', null), tagged('c', 'test', 'it'));

    const report = await setting.run(input);
    const strict = await setting.run(input, { strict: true });

    const reasons = [
      'tags: the customer key "env" has its own value; another was left out.',
      'tags: the customer keys "env", "team" have their own values; others were left out.',
    ];
    const found = reasons.map((reason, index) => ({ line: index + 2, reason }));
    expect(report).toMatchObject({ created: 3, warned: 2, warnings: found });
    expect(strict).toMatchObject({ unchanged: 1, failed: 2, errors: found });
  });

  it('changes no other workspace', async () => {
    await setting.importAll(...ALL);
    const before = await setting.everything();
    const first = setting.here;
    await setting.enterWorkspace();
    await setting.run(setting.ndjson(...ALL), { createTagKeys: 'platform' });
    await setting.run(setting.ndjson(EMPLOYEE), { missing: 'hide' });
    setting.here = first;
    expect(await setting.everything()).toBe(before);
  });

  it('loads a demo with assets for every filter', async () => {
    const report = await setting.demo.load(setting.here, 'S');
    expect(report).toMatchObject({ created: report.read, failed: 0, warned: 0 });
    const { rows: owned } = await setting.database.admin.query<{ source: string }>(
      'SELECT source FROM asset WHERE workspace_id = $1 GROUP BY source HAVING count(owner_id) > 10 ORDER BY source',
      [setting.here],
    );
    expect(owned.map(({ source }) => source)).toEqual(['demo', 'demo-aws', 'demo-azure', 'demo-intune', 'demo-jamf']);
    const { rows } = await setting.database.admin.query(
      `SELECT count(DISTINCT sub_key)::int AS kinds, count(DISTINCT facet)::int AS facets
         FROM facet_count WHERE workspace_id = $1 AND n > 0 AND sub_key <> 15`,
      [setting.here],
    );
    expect(rows).toEqual([{ kinds: 14, facets: 16 }]);
    const { rows: unmonitored } = await setting.database.admin.query(
      `SELECT FROM visible_computer WHERE workspace_id = $1 AND NOT is_monitored`,
      [setting.here],
    );
    expect(unmonitored.length).toBeGreaterThan(0);
  });
});
