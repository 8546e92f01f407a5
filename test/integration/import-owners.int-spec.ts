import { Client, type QueryResult } from 'pg';
import {
  MOST_WAITING_EMPLOYEES,
  WAITING_FOR_EMPLOYEES,
} from '../../libs/inventory/src/imports/typeorm/waiting-statements';
import { EMPLOYEE, ImportSetting, LAPTOP, NOTHING } from '../support/import-setting';

// 50,000 employees take seconds.
jest.mock('../../libs/inventory/src/imports/typeorm/waiting-statements', () => ({
  ...jest.requireActual<object>('../../libs/inventory/src/imports/typeorm/waiting-statements'),
  MOST_WAITING_EMPLOYEES: 50,
}));

const BY_EMAIL = { ...LAPTOP, owner: undefined, ownerEmail: ' ADA@Example.com ' };
const NOBODY = 'ownerEmail is of no visible employee of the workspace.';

const BOSS = { ...EMPLOYEE, externalId: 'boss', email: 'boss@example.com', ownerEmail: 'nobody@example.com' };

describe('ownerEmail of imported records', () => {
  let setting: ImportSetting;
  const idOf = async (externalId: string): Promise<unknown> => (await setting.asset(externalId))['public_id'];
  const ownerOf = async (externalId: string): Promise<unknown> => (await setting.asset(externalId))['owner_id'];

  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  it('finds an employee of another source, whatever the letter case, and changes nothing the second time', async () => {
    await setting.run(setting.ndjson(EMPLOYEE), { source: 'hr' });

    expect(await setting.importAll(BY_EMAIL)).toEqual({ ...NOTHING, newSource: true, read: 1, created: 1 });
    expect(await setting.importAll(BY_EMAIL)).toEqual({ ...NOTHING, read: 1, unchanged: 1 });
    expect(await ownerOf('C02XK')).toBe(await idOf('hr-17'));
  });

  it.each([true, false])('finds an employee who comes later in the import (dry run: %s)', async (dryRun) => {
    const file = setting.ndjson(BY_EMAIL, { ...BY_EMAIL, externalId: 'second' }, EMPLOYEE);

    expect(await setting.run(file, { dryRun })).toEqual({ ...NOTHING, newSource: true, dryRun, read: 3, created: 3 });
    if (!dryRun) expect(await ownerOf('second')).toBe(await idOf('hr-17'));
  });

  it.each([true, false])(
    'finds no employee by an address of more than 256 characters (dry run: %s)',
    async (dryRun) => {
      const address = `${'a'.repeat(250)}@example.com`;
      const file = setting.ndjson({ ...EMPLOYEE, email: address }, { ...BY_EMAIL, ownerEmail: address });

      expect(await setting.run(file, { dryRun })).toMatchObject({
        created: 2,
        warned: 1,
        warnings: [{ reason: NOBODY }],
      });
    },
  );

  it.each([true, false])('takes employees with the longest addresses, in any letters (dry run: %s)', async (dryRun) => {
    // Nothing in it repeats, so no index of Postgres can shorten it.
    const email = String.fromCodePoint(...Array.from({ length: 2_000 }, (_, index) => 0x4e00 + index));
    const waiting = { ...EMPLOYEE, externalId: 'hr-18', email, ownerEmail: email };

    const report = await setting.run(setting.ndjson({ ...EMPLOYEE, email }, waiting), { dryRun });

    expect(report).toMatchObject({ created: 2, failed: 0, warnings: [{ line: 2, reason: NOBODY }] });
  });

  it('finds the employee to whom an address passes, at the next import at the latest', async () => {
    await setting.importAll(EMPLOYEE, BY_EMAIL);
    const passing = [BY_EMAIL, { ...EMPLOYEE, visibility: 'HIDDEN' }, { ...EMPLOYEE, externalId: 'hr-99' }];
    await setting.importAll(...passing);

    await setting.importAll(...passing);

    expect(await ownerOf('C02XK')).toBe(await idOf('hr-99'));
  });

  it('gives a new asset no owner and warns when no employee has the address', async () => {
    const other = { ...LAPTOP, externalId: 'other', owner: undefined };
    const report = await setting.importAll(other, BY_EMAIL);

    expect(report).toMatchObject({ read: 2, created: 2, warned: 1, warnings: [{ line: 2, reason: NOBODY }] });
    expect(await ownerOf('C02XK')).toBeNull();
    expect(await setting.importAll(other, BY_EMAIL)).toMatchObject({ unchanged: 2, warned: 1 });
  });

  it('lets the owner of an earlier import stay when the employee has left', async () => {
    await setting.importAll(EMPLOYEE, BY_EMAIL);
    const owner = await idOf('hr-17');
    await setting.importAll({ ...EMPLOYEE, visibility: 'HIDDEN' });

    const report = await setting.importAll({ ...BY_EMAIL, name: 'renamed' });

    expect(report).toMatchObject({ updated: 1, failed: 0, warnings: [{ line: 1, reason: NOBODY }] });
    expect(await setting.asset('C02XK')).toMatchObject({ name: 'renamed', owner_id: owner });
    expect(await setting.importAll({ ...BY_EMAIL, name: 'renamed' })).toMatchObject({ unchanged: 1, warned: 1 });
  });

  it('warns with the number of employees when several have the address', async () => {
    await setting.importAll(EMPLOYEE, { ...EMPLOYEE, externalId: 'hr-18' }, { ...EMPLOYEE, externalId: 'hr-19' });

    expect(await setting.importAll(BY_EMAIL)).toMatchObject({
      ...{ created: 1, failed: 0, warned: 1 },
      warnings: [{ line: 1, reason: 'ownerEmail is of 3 visible employees of the workspace.' }],
    });
  });

  it('sees no employee of another workspace', async () => {
    await setting.importAll(EMPLOYEE);
    await setting.enterWorkspace();

    expect(await setting.importAll(BY_EMAIL)).toMatchObject({ created: 1, warned: 1 });
  });

  it('counts less than owner and ownerId', async () => {
    await setting.importAll({ ...EMPLOYEE, externalId: 'boss', email: 'boss@example.com' }, EMPLOYEE);

    expect(await setting.importAll({ ...LAPTOP, ownerEmail: 'boss@example.com' })).toMatchObject({
      created: 1,
      warned: 0,
    });
    expect(await ownerOf('C02XK')).toBe(await idOf('hr-17'));
  });

  it('refuses nobody who waits for an employee without an owner of their own', async () => {
    const employee = { ...EMPLOYEE, ownerEmail: 'nobody@example.com' };

    const report = await setting.importAll(LAPTOP, employee);

    expect(report).toMatchObject({ created: 2, failed: 0, warnings: [{ line: 2, reason: NOBODY }] });
    expect(await ownerOf('C02XK')).toBe(await idOf('hr-17'));
  });

  it.each([true, false])('waits for an employee who waits for an owner too (dry run: %s)', async (dryRun) => {
    const file = setting.ndjson(BY_EMAIL, { ...EMPLOYEE, ownerEmail: 'boss@example.com' }, BOSS, {
      ...{ ...LAPTOP, externalId: 'phone', owner: undefined },
      ownerEmail: 'boss@example.com',
    });

    expect(await setting.run(file, { dryRun })).toMatchObject({
      ...{ created: 4, failed: 0, warned: 1 },
      warnings: [{ line: 3, reason: NOBODY }],
    });
    if (dryRun) return;
    expect(await ownerOf('C02XK')).toBe(await idOf('hr-17'));
    expect(await ownerOf('phone')).toBe(await idOf('boss'));
  });

  it('gives new employees who own themselves or each other by address no owner, and their devices one', async () => {
    const itself = { ...EMPLOYEE, externalId: 'itself', email: 'itself@example.com', ownerEmail: 'ITSELF@example.com' };
    const of = (email: string) => ({ ...LAPTOP, externalId: email, owner: undefined, ownerEmail: email });
    const report = await setting.importAll(
      ...[of('itself@example.com'), of('ada@example.com'), of('boss@example.com')],
      ...[itself, { ...EMPLOYEE, ownerEmail: 'boss@example.com' }, { ...BOSS, ownerEmail: undefined, owner: 'hr-17' }],
    );

    expect(report).toMatchObject({ created: 6, failed: 0, warned: 2 });
    expect(report.warnings).toEqual([4, 5].map((line) => ({ line, reason: NOBODY })));
    expect([await ownerOf('itself@example.com'), await ownerOf('boss')]).toEqual([
      await idOf('itself'),
      await idOf('hr-17'),
    ]);
  });

  it.each([true, false])(
    'gives up after 30 levels of owners, and has them at the next import (dry run: %s)',
    async (dryRun) => {
      const chain = Array.from({ length: 40 }, (_, level) => ({
        ...{ ...EMPLOYEE, externalId: `level-${level}`, email: undefined },
        ...(level < 39 && { owner: `level-${level + 1}` }),
      }));
      const laptop = { ...LAPTOP, owner: 'level-0' };

      const first = await setting.run(setting.ndjson(laptop, ...chain), { dryRun });

      const reason = 'owner is not a visible employee of this source.';
      const warnings = Array.from({ length: 9 }, (_, level) => ({ line: level + 2, reason }));
      expect(first).toMatchObject({ created: 41, failed: 0, warned: 9, warnings });
      if (dryRun) return;
      expect(await ownerOf('C02XK')).toBe(await idOf('level-0'));
      expect(await setting.importAll(laptop, ...chain)).toMatchObject({ updated: 9, unchanged: 32, warned: 0 });
      expect(await ownerOf('level-0')).toBe(await idOf('level-1'));
    },
  );

  it('takes no more of the disk while records wait for a long row of owners', async () => {
    const waiting = Array.from({ length: 500 }, (_, index) => ({
      ...LAPTOP,
      externalId: `c-${index}`,
      owner: 'level-0',
    }));
    const chain = Array.from({ length: 28 }, (_, level) => ({
      ...{ ...EMPLOYEE, externalId: `level-${level}`, email: undefined },
      ...(level < 27 && { owner: `level-${level + 1}` }),
    }));
    const size = `SELECT max(pg_table_size(oid))::int AS bytes FROM pg_class WHERE relname = 'import_deferred'`;
    let most = 0;
    const watch = setInterval(() => {
      void setting.database.admin.query<{ bytes: number }>(size).then(({ rows }) => {
        most = Math.max(most, rows[0]?.bytes ?? 0);
      });
    }, 50);

    const report = await setting.importAll(...waiting, ...chain);
    clearInterval(watch);

    expect(report).toMatchObject({ created: 528, warned: 0 });
    // The records take an eighth of a megabyte.
    expect([most > 0, most < 1e6]).toEqual([true, true]);
  });

  it.each([
    [
      'who name nobody',
      { strict: true },
      (place: number) => ({ ...LAPTOP, externalId: `c-${place}`, owner: 'nobody' }),
    ],
    [
      'who own each other',
      {},
      (place: number) => ({ ...EMPLOYEE, externalId: `e-${place}`, owner: `e-${(place + 1) % 20}` }),
    ],
  ])('reads no more than 17 MB of the lines of records that waited and %s', async (_, options, recordOf) => {
    const asked = jest.spyOn(Client.prototype, 'query');
    const lines = Array.from({ length: 20 }, (__, place) => JSON.stringify(recordOf(place)).padEnd(1_000_000));
    let bad = 0;

    const report = await setting.run(setting.file(lines.join('\n')), { ...options, onBadLine: () => (bad += 1) });
    const answers = await Promise.allSettled(
      asked.mock.results.map(({ value }) => value as Promise<QueryResult | object>),
    );
    asked.mockRestore();
    const longest = answers.map((answer) => {
      const { rows = [] } = (answer.status === 'fulfilled' ? answer.value : {}) as Partial<
        QueryResult<{ kept?: string | null }>
      >;
      return rows.reduce((sum, { kept }) => sum + (kept?.length ?? 0), 0);
    });

    expect([report.failed, bad]).toEqual([20, 20]);
    expect([Math.max(...longest) > 15e6, Math.max(...longest) < 17.1e6]).toEqual([true, true]);
  });

  it('gives employees no owner at the first import where too many own each other', async () => {
    const most = MOST_WAITING_EMPLOYEES + 1;
    const circle = Array.from({ length: most }, (_, place) => ({
      ...{ ...EMPLOYEE, externalId: `e-${place}`, email: undefined },
      owner: `e-${(place + 1) % most}`,
    }));

    const report = await setting.run(setting.ndjson(...circle), { dryRun: true });

    expect(report).toMatchObject({ created: most, failed: 0, warned: most });
  });

  it('lets new employees who share the address of their owner wait for the last of them, once each', async () => {
    const asked = jest.spyOn(Client.prototype, 'query');
    const team = Array.from({ length: 30 }, (_, index) => ({
      ...{ ...EMPLOYEE, externalId: `hr-${index}`, email: 'Team@example.com' },
      ownerEmail: 'team@Example.com',
    }));
    const report = await setting.importAll(...team, {
      ...EMPLOYEE,
      externalId: 'other',
      owner: 'hr-0',
      email: undefined,
    });
    const answers = asked.mock.results.filter(
      (_, at) => asked.mock.calls[at]?.[0] === (WAITING_FOR_EMPLOYEES as unknown),
    );
    asked.mockRestore();

    const found = await Promise.all(answers.map(({ value }) => value as Promise<QueryResult>));
    expect(found.map(({ rowCount }) => rowCount)).toEqual([31]);
    expect(report).toMatchObject({ created: 31, failed: 0, warnings: [{ line: 30, reason: NOBODY }] });
    const owner = await idOf('hr-29');
    expect([await ownerOf('hr-0'), await ownerOf('hr-28'), await ownerOf('hr-29')]).toEqual([owner, owner, null]);
    expect(await ownerOf('other')).toBe(await idOf('hr-0'));
  });
});
