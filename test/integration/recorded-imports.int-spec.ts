import { Database } from '#libs/platform/database';
import { ImportRunsTypeorm } from '../../libs/inventory/src/imports/typeorm/import-runs.typeorm';
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
});
