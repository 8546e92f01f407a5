import { newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { assetRepositoryOn } from '../support/asset-repository';
import { openDataSource } from '../support/database-connection';
import { EMPLOYEE, ImportSetting, LAPTOP } from '../support/import-setting';

const EVA = { ...EMPLOYEE, name: 'ÉVA', email: 'ÉVA@example.com' };
const OF_EVA = { ...LAPTOP, owner: undefined, ownerEmail: 'éva@EXAMPLE.com' };

describe('The letter case beyond ASCII, in a database with the locale C', () => {
  let setting: ImportSetting;
  beforeAll(async () => {
    setting = await ImportSetting.open({ locale: 'C' });
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  it('does not matter to a filter by address and to a search', async () => {
    await setting.importAll(EVA);
    const repository = assetRepositoryOn(new Database(setting.dataSource));
    const scope = newestOf(setting.here);

    const list = await repository.list(scope, { email: 'éva@EXAMPLE.com' }, { size: 1, after: null });
    const searches = ['éva@', 'Éva'].map((text) => repository.employeesWith(scope, text, 2));

    expect(list.totalCount).toBe(1);
    for (const { found } of await Promise.all(searches)) expect(found).toMatchObject([{ name: 'ÉVA' }]);
  });

  it.each([
    ['İbrahim Kaya', 'ibrahim'],
    ['Νικόστρατος', 'ΝΙΚΌΣ'],
  ])('finds %s by %s', async (name, text) => {
    await setting.importAll({ ...EMPLOYEE, name });
    const repository = assetRepositoryOn(new Database(setting.dataSource));

    const { found } = await repository.employeesWith(newestOf(setting.here), text, 2);

    expect(found).toMatchObject([{ name }]);
  });

  it('costs a search of a long text about as much as one of a short text', async () => {
    await setting.importAll(...Array.from({ length: 2_000 }, (_, n) => ({ ...EMPLOYEE, externalId: `hr-${n}` })));
    const api = await openDataSource(setting.database.databaseUrl);
    const repository = assetRepositoryOn(new Database(api));
    const leastMsOf = async (text: string): Promise<number> => {
      const times: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        const begun = performance.now();
        await repository.employeesWith(newestOf(setting.here), text, 2);
        times.push(performance.now() - begun);
      }
      return Math.min(...times);
    };

    const short = await leastMsOf('zz');
    const long = await leastMsOf('z'.repeat(1_000));
    await api.destroy();

    // It takes about thirty times as long where Postgres folds the text again for each employee.
    expect(long).toBeLessThan(4 * short);
  });

  it.each([true, false])('does not matter to imports that name owners (dry run: %s)', async (dryRun) => {
    const others = [2, 3].map((id) => ({ ...OF_EVA, externalId: `computer-${id}` }));

    // The owner comes after the first one.
    expect(await setting.run(setting.ndjson(OF_EVA, EVA, ...others), { dryRun })).toMatchObject({
      created: 4,
      warned: 0,
    });

    await setting.importAll(EVA);
    expect(await setting.run(setting.ndjson(OF_EVA, ...others), { dryRun })).toMatchObject({ failed: 0, warned: 0 });
  });
});
