import { randomUUID } from 'node:crypto';
import type { BadLine } from '../../libs/inventory/src/imports/domain/import-report';
import { WRITTEN_FIELDS } from '../../libs/inventory/src/assets/typeorm/asset.row';
import { EMPLOYEE, ImportSetting, LAPTOP, RECORDS, type Row } from '../support/import-setting';

describe('An import with --rekey-by serialNumber', () => {
  let setting: ImportSetting;

  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());
  afterEach(async () => {
    expect(await setting.wrongCounters()).toEqual([]);
  });

  const OLD = { ...LAPTOP, externalId: 'agent-1', serialNumber: 'S1', owner: undefined };
  const NEW = { ...OLD, externalId: 'agent-2', name: 'reinstalled' };
  const rekeying = { rekeyBy: 'serialNumber', missing: 'hide', hideAtMost: { percent: 100 } } as const;

  it('lets a computer that was enrolled again be the asset that it was', async () => {
    await setting.importAll(OLD, RECORDS);
    await setting.change(`UPDATE asset SET description = 'Lent to Mei', api_set = ${WRITTEN_FIELDS.description.bit}
                           WHERE external_id = 'agent-1' AND workspace_id = '${setting.here}'`);
    const before = await setting.asset('agent-1');
    const input = setting.ndjson(NEW, RECORDS);
    const untouched = await setting.everything();
    const expected = { read: 2, created: 0, updated: 1, unchanged: 1, hidden: 0, failed: 0, rekeyed: 1 };
    expect(await setting.run(input, { ...rekeying, dryRun: true })).toMatchObject(expected);
    expect(await setting.everything()).toBe(untouched);

    expect(await setting.run(input, rekeying)).toMatchObject(expected);
    const after = await setting.asset('agent-2');
    expect(after).toMatchObject({ name: 'reinstalled', description: 'Lent to Mei', visibility: 0 });
    expect(after['public_id']).toBe(before['public_id']);
    expect(BigInt(String(after['change_id']))).toBeGreaterThan(BigInt(String(before['change_id'])));
    expect(await setting.asset('agent-1')).toBeUndefined();
    const { rows } = await setting.database.admin.query<Row>(
      `SELECT actor_type, target_id, changes FROM audit_event WHERE action = 'asset.rekeyed' AND workspace_id = $1`,
      [setting.here],
    );
    expect(rows).toEqual([
      {
        actor_type: 'IMPORT',
        target_id: before['public_id'],
        changes: { externalId: { old: 'agent-1', new: 'agent-2' } },
      },
    ]);
    expect(await setting.run(input, rekeying)).toMatchObject({ unchanged: 2, rekeyed: 0, hidden: 0 });
  });

  it('counts one that differs in nothing else as unchanged, and tells the feed', async () => {
    await setting.importAll(OLD);
    const before = await setting.asset('agent-1');
    const report = await setting.run(setting.ndjson({ ...OLD, externalId: 'agent-2' }), rekeying);
    expect(report).toMatchObject({ read: 1, unchanged: 1, updated: 0, rekeyed: 1 });
    const after = await setting.asset('agent-2');
    expect(after['version']).toBe(Number(before['version']) + 1);
    const sets = 'SELECT origin FROM change_set WHERE workspace_id = $1 AND id = $2';
    expect((await setting.database.admin.query(sets, [setting.here, after['change_id']])).rowCount).toBe(1);
  });

  const other = { ...OLD, externalId: 'agent-0' };
  it.each<[string, object[], object[]]>([
    ['two new computers have the serial number', [OLD], [NEW, { ...NEW, externalId: 'agent-3' }]],
    ['another names its own id', [OLD], [NEW, { ...NEW, externalId: 'agent-3', id: randomUUID() }]],
    ['two vanished computers have it', [OLD, other], [NEW]],
    ['the input still names the computer', [OLD], [NEW, OLD]],
    ['the input names it in a bad line', [OLD], [NEW, { ...OLD, managed: 'maybe' }]],
    ['the computer is hidden', [{ ...OLD, visibility: 'HIDDEN' }, RECORDS], [NEW, RECORDS]],
    ['it is a placeholder of firmware', [{ ...OLD, serialNumber: 'None' }], [{ ...NEW, serialNumber: 'None' }]],
  ])('makes a new asset when %s', async (_, first, second) => {
    await setting.importAll(...first);
    const report = await setting.run(setting.ndjson(...second), rekeying);
    expect(report).toMatchObject({ rekeyed: 0 });
    expect(report.created).toBeGreaterThan(0);
    expect((await setting.asset('agent-1'))['id']).not.toBe((await setting.asset('agent-2'))['id']);
  });

  it.each<[string, (record: object) => string, string]>([
    ['a line names no asset', (record) => setting.ndjson(record, {}), 'line 2 names no asset.'],
    ['a line cannot be read', (record) => setting.file(`{\n${JSON.stringify(record)}`), 'line 1 names no asset.'],
    [
      'the file is one of bad lines',
      (record) => setting.ndjson({ line: 7, reason: 'It was bad.', text: JSON.stringify(record) }),
      'line 1 comes from a file of bad lines.',
    ],
  ])(
    'refuses a computer that may be the asset of before when %s, so that a whole input rekeys it',
    async (_, input, why) => {
      await setting.importAll(OLD, RECORDS);
      const path = input(NEW);
      const dry = await setting.run(path, { ...rekeying, dryRun: true });

      const report = await setting.run(path, rekeying);

      expect(report).toEqual({ ...dry, dryRun: false });
      expect(report).toMatchObject({ created: 0, rekeyed: 0, hidden: 0 });
      const reason = `Only an input that names every asset tells whether this is the computer of before with its serialNumber; ${why}`;
      expect(report.errors).toContainEqual(expect.objectContaining({ reason }));
      expect(await setting.run(setting.ndjson(NEW, RECORDS), rekeying)).toMatchObject({ updated: 1, rekeyed: 1 });
    },
  );

  it('refuses such computers batch by batch, however many there are', async () => {
    const names = Array.from({ length: 51 }, (_, index) => index);
    const enrolled = (prefix: string) =>
      names.map((index) => ({ ...OLD, externalId: `${prefix}-${index}`, serialNumber: `S-${index}` }));
    await setting.importAll(...enrolled('old'));
    const input = setting.ndjson(...enrolled('new'), {});
    const bad: BadLine[] = [];

    const report = await setting.run(input, { ...rekeying, batchSize: 50, onBadLine: (line) => bad.push(line) });

    expect(report).toMatchObject({ read: 52, failed: 52, created: 0, rekeyed: 0 });
    expect(new Set(bad.map(({ line }) => line)).size).toBe(52);
    expect(await setting.run(setting.ndjson(...enrolled('new')), rekeying)).toMatchObject({
      rekeyed: 51,
      failed: 0,
    });
  });

  it('makes other computers new assets although the input may not name every asset', async () => {
    await setting.importAll(OLD);
    const input = setting.ndjson({ ...NEW, serialNumber: 'S2' }, { ...NEW, externalId: 'agent-1' }, {});
    expect(await setting.run(input, rekeying)).toMatchObject({ created: 1, updated: 1, failed: 1, rekeyed: 0 });
  });

  it.each<[string, object, object]>([
    ['a wrong value', { managed: 'maybe' }, {}],
    ['a wrong value beside U+0000', { managed: 'maybe', serialNumber: 'S1\u0000' }, {}],
    ['an unknown tag key', { tags: [{ key: 'unknown' }] }, {}],
    ['an id of another asset', { id: '018f9c2e-7d2a-7c41-9a51-000000000001' }, {}],
    ['a warning', { description: 'd'.repeat(501) }, { strict: true }],
    ['an owner who is not there', { owner: 'nobody' }, { strict: true }],
  ])(
    'keeps the asset of before visible and as it is when the record of its computer has %s',
    async (_, bad, options) => {
      await setting.importAll(OLD, RECORDS);
      await setting.run(setting.ndjson({ ...RECORDS, id: '018f9c2e-7d2a-7c41-9a51-000000000001' }), {
        source: 'other',
      });
      const before = await setting.asset('agent-1');
      const input = setting.ndjson({ ...NEW, ...bad }, RECORDS);

      for (const dryRun of [true, false]) {
        expect(await setting.run(input, { ...rekeying, ...options, dryRun })).toMatchObject({
          ...{ unchanged: 1, failed: 1, rekeyed: 0, hidden: 0, hiddenWhy: null },
        });
      }

      expect(await setting.asset('agent-1')).toEqual(before);
      expect(await setting.run(setting.ndjson(NEW, RECORDS), rekeying)).toMatchObject({ rekeyed: 1, hidden: 0 });
    },
  );

  it('keeps the asset of before visible when a strict import refuses two computers with its serial number', async () => {
    await setting.importAll(OLD, RECORDS);
    const unowned = { ...NEW, owner: 'nobody' };
    const input = setting.ndjson(unowned, { ...unowned, externalId: 'agent-3' }, RECORDS);

    for (const dryRun of [true, false]) {
      const report = await setting.run(input, { ...rekeying, strict: true, dryRun });
      expect(report).toMatchObject({ unchanged: 1, failed: 2, rekeyed: 0, hidden: 0, hiddenWhy: null });
    }
  });

  it('keeps the asset of before visible when a tag key of its computer is deleted meanwhile', async () => {
    await setting.importAll(OLD, RECORDS);
    const tags = [{ key: 'env' }];
    const lines = async function* () {
      for (const [index, value] of [
        { ...NEW, tags },
        { ...RECORDS, tags },
      ].entries())
        yield { fileIndex: 0, line: index + 1, value };
      await setting.tagKeys.delete(setting.here, 'env');
    };
    const options = { source: 'test', files: [], dryRun: false, createTagKeys: null, ...rekeying };

    const report = await setting.imports.runLines(setting.here, options, lines());

    expect(report).toMatchObject({ failed: 2, rekeyed: 0, hidden: 0, hiddenWhy: null });
  });

  const later = { ...EMPLOYEE, externalId: 'later', email: 'later@example.com' };
  it.each([
    ['comes later', [later]],
    [
      'waits for an owner of its own',
      [
        { ...later, owner: 'boss' },
        { ...EMPLOYEE, externalId: 'boss', email: 'boss@example.com' },
      ],
    ],
  ])('keeps the asset of before as it is when its computer names two owners, one of whom %s', async (_, others) => {
    await setting.importAll(OLD, EMPLOYEE);
    const before = await setting.asset('agent-1');
    const ownerId = (await setting.asset(EMPLOYEE.externalId))['public_id'];
    const input = setting.ndjson({ ...NEW, owner: later.externalId, ownerId }, EMPLOYEE, ...others);

    for (const dryRun of [true, false]) {
      const report = await setting.run(input, { ...rekeying, dryRun });
      const created = others.length;
      expect(report).toMatchObject({ created, unchanged: 1, failed: 1, rekeyed: 0, hidden: 0, hiddenWhy: null });
    }

    expect(await setting.asset('agent-1')).toEqual(before);
  });

  it('keeps the asset of before as it is when the employee who owns its computer is refused late', async () => {
    await setting.importAll(OLD, RECORDS);
    const before = await setting.asset('agent-1');
    const unowned = { ...EMPLOYEE, owner: 'nobody' };
    const input = setting.ndjson({ ...NEW, owner: EMPLOYEE.externalId }, unowned, RECORDS);

    for (const dryRun of [true, false]) {
      const report = await setting.run(input, { ...rekeying, strict: true, dryRun });
      expect(report).toMatchObject({ unchanged: 1, failed: 2, rekeyed: 0, hidden: 0, hiddenWhy: null });
    }

    expect(await setting.asset('agent-1')).toEqual(before);
  });

  it('rekeys in a strict import what an employee owns who comes later', async () => {
    await setting.importAll(OLD);
    const boss = { ...EMPLOYEE, externalId: 'boss', email: 'boss@example.com' };
    const employee = { ...EMPLOYEE, owner: boss.externalId };
    const input = setting.ndjson({ ...NEW, owner: EMPLOYEE.externalId }, employee, boss);
    for (const dryRun of [true, false]) {
      const report = await setting.run(input, { ...rekeying, strict: true, dryRun });
      expect(report).toMatchObject({ created: 2, updated: 1, rekeyed: 1 });
    }
  });

  it('rekeys a computer that names two owners, one of whom is refused late', async () => {
    await setting.importAll(OLD, EMPLOYEE);
    const ownerId = (await setting.asset(EMPLOYEE.externalId))['public_id'];
    const input = setting.ndjson({ ...NEW, owner: later.externalId, ownerId }, EMPLOYEE, { ...later, owner: 'later' });
    for (const dryRun of [true, false]) {
      const report = await setting.run(input, { ...rekeying, dryRun });
      expect(report).toMatchObject({ created: 0, updated: 1, unchanged: 1, failed: 1, rekeyed: 1 });
    }
  });

  it('looks only into its own source, and only when asked', async () => {
    await setting.run(setting.ndjson(OLD), { source: 'other' });
    await setting.importAll(RECORDS);
    expect(await setting.run(setting.ndjson(NEW, RECORDS), rekeying)).toMatchObject({ created: 1, rekeyed: 0 });
    expect(await setting.importAll({ ...NEW, externalId: 'agent-9' })).toMatchObject({ created: 1, rekeyed: 0 });
  });
});
