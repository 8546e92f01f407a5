import { randomUUID } from 'node:crypto';
import { type BadLine } from '#libs/inventory/operators';
import { ALL, BUCKET, EMPLOYEE, ImportSetting, LAPTOP, NOTHING, PRINTER, RECORDS } from '../support/import-setting';

describe('Imported records', () => {
  let setting: ImportSetting;

  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());
  afterEach(async () => {
    expect(await setting.wrongCounters()).toEqual([]);
  });

  it('store every member of every kind of record', async () => {
    expect(await setting.importAll(...ALL)).toEqual({ ...NOTHING, read: 5, created: 5, newSource: true });
    const owner = (await setting.asset('hr-17'))['public_id'];
    expect(await setting.asset('arn:aws:s3:::logs')).toMatchObject({
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
    expect(await setting.asset('C02XK')).toMatchObject({
      serial_number: 'C02XK',
      operating_system: 'macOS',
      os_version: '15.1',
    });
    expect((await setting.rowsOf('computer'))[0]).toMatchObject({
      managed: true,
      agent_version: '2.4.0',
      antivirus_installed: true,
      disk_encryption_enabled: null,
      password_manager_installed: null,
      screen_lock_enabled: false,
    });
    expect(await setting.asset('ds-1')).toMatchObject({
      contains_patient_data: true,
      contains_user_data: null,
      user_data_info: 'tab\there, back\\slash and\nnewline',
    });
    expect(await setting.asset('c-1')).toMatchObject({ name: 'Badge printer 🖨', visibility: 1, facet: null });
    expect(await setting.rowsOf('asset_tag')).toHaveLength(2);
  });

  it('change nothing on the second run, not even a row', async () => {
    await setting.importAll(...ALL);
    const before = await setting.everything();
    expect(await setting.importAll(...ALL)).toEqual({ ...NOTHING, read: 5, unchanged: 5 });
    expect(await setting.everything()).toBe(before);
  });

  it('update what changed, keep ids and raise the version once', async () => {
    await setting.importAll(...ALL);
    const before = await setting.asset('arn:aws:s3:::logs');
    const changed = { ...BUCKET, name: 'access-logs', owner: null, tags: [{ key: 'env' }] };
    const safer = { ...LAPTOP, compliance: { ...LAPTOP.compliance, screenLockEnabled: true } };
    expect(await setting.importAll(EMPLOYEE, changed, safer)).toEqual({
      ...NOTHING,
      read: 3,
      updated: 2,
      unchanged: 1,
    });
    const after = await setting.asset('arn:aws:s3:::logs');
    expect(after).toMatchObject({
      id: before['id'],
      public_id: before['public_id'],
      version: 2,
      name: 'access-logs',
      owner_id: null,
      owner_source: null,
      tags: [{ key: 'env', value: 'production', readOnly: false }],
    });
    expect(await setting.rowsOf('asset_tag')).toHaveLength(1);
    expect((await setting.rowsOf('computer'))[0]).toMatchObject({ screen_lock_enabled: true });
  });

  it('keep the creation time of the first import when they have none', async () => {
    await setting.importAll(PRINTER);
    const before = await setting.asset('c-1');
    expect((await setting.importAll({ ...PRINTER, name: 'Other' })).updated).toBe(1);
    expect((await setting.asset('c-1'))['created_at']).toEqual(before['created_at']);
  });

  it('never overwrite what was set through the API, field by field', async () => {
    await setting.importAll(...ALL);
    await setting.change(`UPDATE asset SET api_set = 15, owner_id = NULL, owner_source = NULL, description = 'Ours',
      classification = 3, tags = '[{"key": "aws:stack", "value": "prod", "readOnly": true}]' WHERE external_id = 'arn:aws:s3:::logs' AND workspace_id = '${setting.here}'`);
    await setting.change(`DELETE FROM asset_tag USING tag_key
      WHERE tag_key.id = tag_key_id AND tag_key.key = 'env' AND asset_tag.workspace_id = '${setting.here}'`);
    const changed = {
      ...BUCKET,
      region: 'us-east-1',
      description: 'Theirs',
      tags: [{ key: 'env' }, { key: 'aws:stack', value: 'dev' }],
    };
    expect((await setting.importAll(EMPLOYEE, changed)).updated).toBe(1);
    expect(await setting.asset('arn:aws:s3:::logs')).toMatchObject({
      region: 'us-east-1',
      owner_id: null,
      description: 'Ours',
      classification: 3,
      tags: [{ key: 'aws:stack', value: 'dev', readOnly: true }],
    });
    expect(await setting.rowsOf('asset_tag')).toEqual([expect.objectContaining({ value: 'dev' })]);
    expect((await setting.importAll(EMPLOYEE, changed)).unchanged).toBe(2);
  });

  describe('owners', () => {
    it('may follow what they own, also through another owner', async () => {
      const chain = [
        { ...BUCKET, owner: 'hr-1' },
        { ...EMPLOYEE, externalId: 'hr-1', owner: 'hr-2' },
        { ...EMPLOYEE, externalId: 'hr-2', owner: 'hr-3' },
        { ...EMPLOYEE, externalId: 'hr-3' },
      ];
      expect(await setting.importAll(...chain)).toEqual({ ...NOTHING, read: 4, created: 4, newSource: true });
      expect((await setting.asset('arn:aws:s3:::logs'))['owner_id']).toBe((await setting.asset('hr-1'))['public_id']);
    });

    const NOBODY = 'owner is not a visible employee of this source.';
    const STRANGERS = [
      { ...PRINTER, externalId: 'a', owner: 'nobody' },
      { ...PRINTER, externalId: 'b', owner: 'c' },
      { ...PRINTER, externalId: 'c' },
      { ...PRINTER, externalId: 'd', owner: 'hidden' },
      { ...EMPLOYEE, externalId: 'hidden', visibility: 'HIDDEN' },
      { ...PRINTER, externalId: 'e', owner: 'elsewhere' },
      { ...PRINTER, externalId: 'f', ownerId: randomUUID() },
      { ...PRINTER, externalId: 'g', owner: 'x'.repeat(3_000) },
    ];
    const faults = [1, 2, 4, 6, 7, 8].map((line) => ({
      line,
      reason: line === 7 ? 'ownerId is not a visible employee of the workspace.' : NOBODY,
    }));

    it.each([true, false])(
      'are left out with a warning when they are no visible employees (dry run: %s)',
      async (dryRun) => {
        await setting.run(setting.ndjson({ ...EMPLOYEE, externalId: 'elsewhere' }), { source: 'other' });

        const report = await setting.run(setting.ndjson(...STRANGERS), { dryRun });

        expect(report).toMatchObject({ read: 8, created: 8, failed: 0, warned: 6, warnings: faults });
        if (!dryRun) expect((await setting.importAll(...STRANGERS)).unchanged).toBe(8);
      },
    );

    it.each([true, false])('are errors then with --strict (dry run: %s)', async (dryRun) => {
      const strict = { strict: true, dryRun };
      await setting.run(setting.ndjson({ ...EMPLOYEE, externalId: 'elsewhere' }), { source: 'other' });

      const report = await setting.run(setting.ndjson(...STRANGERS, { ...PRINTER, name: 'n'.repeat(1001) }), strict);

      const long = { line: 9, reason: 'name is longer than 1000 characters; the rest was cut off.' };
      expect(report).toMatchObject({ read: 9, created: 2, failed: 7, warned: 0, errors: [...faults, long] });
    });

    it('of an earlier import stay when they have left, by both kinds of reference', async () => {
      const id = randomUUID();
      const owned = [LAPTOP, { ...LAPTOP, externalId: 'by-id', owner: undefined, ownerId: id }];
      await setting.importAll({ ...EMPLOYEE, id }, ...owned);
      await setting.importAll({ ...EMPLOYEE, visibility: 'HIDDEN' });

      const report = await setting.importAll(...owned.map((record) => ({ ...record, name: 'renamed' })));

      expect(report).toMatchObject({ updated: 2, failed: 0, warned: 2 });
      for (const name of ['C02XK', 'by-id']) {
        expect(await setting.asset(name)).toMatchObject({ name: 'renamed', owner_id: id, owner_source: 3 });
      }
    });

    it('may be named twice, if both name the same employee', async () => {
      const [ada, ben] = [randomUUID(), randomUUID()];
      const report = await setting.importAll(
        { ...PRINTER, externalId: 'same', owner: 'hr-1', ownerId: ada },
        { ...EMPLOYEE, externalId: 'hr-1', id: ada },
        { ...EMPLOYEE, externalId: 'hr-2', id: ben },
        { ...PRINTER, externalId: 'other', owner: 'hr-1', ownerId: ben },
      );
      expect(report).toMatchObject({ created: 3, failed: 1 });
      expect(report.errors).toEqual([{ line: 4, reason: 'owner and ownerId name different employees; give one.' }]);
      expect((await setting.asset('same'))['owner_id']).toBe(ada);
    });

    it.each([true, false])('may come later than one that ownerId contradicts (dry run: %s)', async (dryRun) => {
      const ownerId = randomUUID();
      await setting.importAll({ ...EMPLOYEE, id: ownerId });
      const file = setting.ndjson(
        { ...PRINTER, owner: 'later', ownerId },
        { ...PRINTER, externalId: 'stranger', owner: 'nobody', ownerId },
        { ...EMPLOYEE, externalId: 'later' },
        { ...PRINTER, externalId: 'other', owner: 'later', ownerId },
      );
      const report = await setting.run(file, { dryRun });

      const reason = 'owner and ownerId name different employees; give one.';
      expect(report).toMatchObject({ created: 2, warned: 0, errors: [1, 4].map((line) => ({ line, reason })) });
      if (dryRun) return;
      expect((await setting.asset('stranger'))['owner_id']).toBe(ownerId);
      expect(await setting.run(file)).toMatchObject({ unchanged: 2, warned: 0, failed: 2 });
    });

    it('in a circle are refused while they are new, and nobody else is', async () => {
      const id = randomUUID();
      const circle = [
        { ...EMPLOYEE, externalId: 'self', owner: 'self' },
        { ...EMPLOYEE, externalId: 'one', owner: 'other' },
        { ...EMPLOYEE, externalId: 'other', id, owner: 'one' },
        { ...EMPLOYEE, externalId: 'beside', ownerId: id },
        { ...PRINTER, externalId: 'theirs', owner: 'one' },
        { ...PRINTER, externalId: 'last', owner: 'beside' },
      ];
      const report = await setting.importAll(...circle);
      const reason =
        'New employees who own themselves or each other cannot be brought in; bring them in without owner first.';
      expect(report.errors).toEqual([1, 2, 3].map((line) => ({ line, reason })));
      expect(report).toMatchObject({ created: 3, warned: 2 });
      expect((await setting.asset('last'))['owner_id']).toBe((await setting.asset('beside'))['public_id']);
      await setting.importAll(...circle.slice(0, 3).map((record) => ({ ...record, owner: null })));
      expect(await setting.importAll(...circle)).toMatchObject({ updated: 5, unchanged: 1, failed: 0, warned: 0 });
      expect((await setting.asset('self'))['owner_id']).toBe((await setting.asset('self'))['public_id']);
    });

    it('may be named by the public id of an employee of any source', async () => {
      const id = randomUUID();
      await setting.run(setting.ndjson({ ...EMPLOYEE, id }), { source: 'other' });
      expect((await setting.importAll({ ...PRINTER, ownerId: id.toUpperCase() })).created).toBe(1);
      expect((await setting.asset('c-1'))['owner_id']).toBe(id);
    });
  });

  it('are refused by line for an id that differs or is taken, and for another category', async () => {
    const id = randomUUID();
    await setting.importAll({ ...PRINTER, id }, RECORDS);
    const report = await setting.importAll(
      { ...PRINTER, id: randomUUID() },
      { ...PRINTER, externalId: 'other', id },
      { ...PRINTER, externalId: 'ds-1' },
      { ...PRINTER, externalId: 'c-2' },
    );
    expect(report.errors).toEqual([
      { line: 1, reason: 'The asset with this externalId has another id.' },
      { line: 2, reason: 'The id belongs to another asset.' },
      { line: 3, reason: 'The asset with this externalId is of another category.' },
    ]);
    expect(report).toMatchObject({ created: 1, failed: 3 });
    expect((await setting.importAll({ ...PRINTER, id })).unchanged).toBe(1);
  });

  it('count the last one, too, when its id stands twice, and keep its asset visible', async () => {
    const id = randomUUID();
    await setting.importAll(PRINTER, { ...PRINTER, externalId: 'other' });
    const file = setting.ndjson({ ...PRINTER, id }, { ...PRINTER, externalId: 'other', id, owner: 'nobody' });
    const report = await setting.run(file, { missing: 'hide' });
    expect(report).toMatchObject({ read: 2, failed: 2, warned: 0, hidden: 0 });
  });

  it('are reported with number and reason when bad, and the others are imported', async () => {
    const told: BadLine[] = [];
    const content = Buffer.concat([
      Buffer.from(`${JSON.stringify(EMPLOYEE)}\n\n{"broken\n[1]\n`),
      Buffer.from([0xff, 0xfe, 10]),
      Buffer.from(`${JSON.stringify({ categoryKey: 'CLOUD', externalId: 'x', name: '', colour: 'red' })}\n`),
      Buffer.from(`${'x'.repeat(1_100_000)}\n`),
      Buffer.from(`${JSON.stringify({ ...BUCKET, tags: [{ key: 'nope' }] })}\n`),
      Buffer.from(`${JSON.stringify(RECORDS)}\n[2]`),
    ]);
    const report = await setting.run(setting.file(content), { onBadLine: (line) => told.push(line) });
    expect(report).toMatchObject({ read: 9, created: 2, failed: 7 });
    expect(report.errors).toEqual([
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
      { line: 10, reason: 'The record is not an object.' },
    ]);
    expect(told.map(({ line, reason }) => ({ line, reason }))).toEqual(report.errors);
  });

  it.each([true, false])('create tag keys until the workspace has 20,000 (dry run: %s)', async (dryRun) => {
    await setting.change(`INSERT INTO tag_key (workspace_id, key, platform)
      SELECT '${setting.here}', 'full-' || n, true FROM generate_series(1, 19997) AS n`);
    const tagged = (key: string) => ({ ...PRINTER, externalId: key, tags: [{ key: 'env' }, { key }] });

    const report = await setting.run(setting.ndjson(tagged('last'), tagged('more'), tagged('last but one')), {
      ...{ createTagKeys: 'platform', dryRun, batchSize: 1 },
    });

    expect(report).toMatchObject({ created: 1, failed: 2 });
    expect(report.errors[0]).toEqual({
      line: 2,
      reason: 'tags: the key "more" does not exist in the workspace, and an import creates none beyond 20,000.',
    });
  });

  it('create unknown tag keys as platform keys only when told to', async () => {
    const tagged = {
      ...PRINTER,
      tags: [{ key: 'new', value: 'v "quoted" \\ 🏷' }, { key: 'Z' }, { key: '😀' }, { key: 'ﬀ' }],
    };
    expect((await setting.importAll(tagged)).failed).toBe(1);
    expect((await setting.run(setting.ndjson(tagged), { createTagKeys: 'platform' })).created).toBe(1);
    // By code points: Z, new, ﬀ (U+FB00), 😀 (U+1F600). UTF-16 would swap the last two.
    expect((await setting.asset('c-1'))['tags']).toEqual([
      { key: 'Z', value: '', readOnly: true },
      { key: 'new', value: 'v "quoted" \\ 🏷', readOnly: true },
      { key: 'ﬀ', value: '', readOnly: true },
      { key: '😀', value: '', readOnly: true },
    ]);
    expect((await setting.tagKeys.list(setting.here)).map(({ key }) => key)).toEqual([
      'Z',
      'aws:stack',
      'env',
      'new',
      'ﬀ',
      '😀',
    ]);
  });

  it('get a short error for a line with very many unknown tag keys', async () => {
    const tags = Array.from({ length: 1_000 }, (_, index) => ({ key: `${index}-${'k'.repeat(900)}` }));
    const { errors } = await setting.importAll({ ...PRINTER, tags });
    const reason = errors[0]?.reason ?? '';
    expect(reason).toMatch(
      /^tags: the keys "0-k{62}…", "1-.*, "19-k{61}…" and 980 more do not exist in the workspace\.$/,
    );
    expect(reason.length).toBeLessThan(2_000);
  });

  it('get the value of the key for a platform tag without a value', async () => {
    await setting.tagKeys.create(setting.here, { key: 'aws:account', value: 'main', platform: true });
    await setting.importAll({ ...PRINTER, tags: [{ key: 'aws:account' }, { key: 'aws:stack', value: '' }] });
    expect((await setting.asset('c-1'))['tags']).toEqual([
      { key: 'aws:account', value: 'main', readOnly: true },
      { key: 'aws:stack', value: '', readOnly: true },
    ]);
    expect((await setting.rowsOf('asset_tag')).map(({ value }) => value).sort()).toEqual(['', 'main']);
  });

  it('lose a tag whose key is deleted', async () => {
    await setting.importAll(EMPLOYEE, BUCKET, { ...RECORDS, tags: [{ key: 'env' }] });
    expect(await setting.tagKeys.delete(setting.here, 'env')).toEqual({ assets: 2 });
    expect(await setting.asset('arn:aws:s3:::logs')).toMatchObject({
      version: 2,
      tags: [{ key: 'aws:stack', value: 'prod', readOnly: true }],
    });
    expect((await setting.asset('ds-1'))['tags']).toEqual([]);
    expect(await setting.rowsOf('asset_tag')).toHaveLength(1);
    expect(await setting.tagKeys.delete(setting.here, 'env')).toBeNull();
  });

  it('have one warning each, with all that was mended, also when they wait for an owner', async () => {
    const long = { name: 'n'.repeat(1001), lastCheckedAt: '1970-01-01T00:00:00Z' };
    const cut = 'name is longer than 1000 characters; the rest was cut off.';
    const never = 'lastCheckedAt stands for "never", and was left out.';

    const report = await setting.importAll(
      { ...PRINTER, externalId: 'one', ...long },
      { ...PRINTER, externalId: 'two', ...long, owner: 'nobody' },
      { ...PRINTER, externalId: 'three', ...long, owner: 'hr-17' },
      { ...PRINTER, externalId: 'four', ...long, tags: [{ key: 'unknown' }] },
      EMPLOYEE,
    );

    expect(report).toMatchObject({ read: 5, created: 4, failed: 1, warned: 3 });
    expect(report.warnings).toEqual([
      { line: 1, reason: `${cut} ${never}` },
      { line: 2, reason: `${cut} ${never} owner is not a visible employee of this source.` },
      { line: 3, reason: `${cut} ${never}` },
    ]);
  });
});
