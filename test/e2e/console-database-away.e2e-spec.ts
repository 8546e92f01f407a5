import { Logger } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import { type ConsoleBrowser, type TestConsole, startConsole } from '../support/console-setting';
import { TcpProxy } from '../support/tcp-proxy';
import { createTestDatabase } from '../support/test-database';
import { until } from '../support/until';

describe('While the database of the console is away', () => {
  let console: TestConsole;
  let proxy: TcpProxy;
  let admin: ConsoleBrowser;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const url = new URL(database.consoleDatabaseUrl);
    proxy = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    console = await startConsole({}, { ...database, consoleDatabaseUrl: url.href });
    admin = await console.signIn((await console.aWorkspace()).slug, 'admin');
  });
  afterAll(async () => {
    await console.stop();
    await proxy.close();
    await console.database.drop();
  });

  afterEach(() => jest.restoreAllMocks());

  it('a page says so with 503, and works again afterwards', async () => {
    const before = await admin.get('/people');
    await proxy.set('refuse');

    const refused = [await admin.get('/people'), await admin.post('/people', before.fields('/people'))];
    await proxy.set('forward');

    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    for (const { text } of refused) expect(text).toContain('The database does not respond. Try again in a minute.');
    expect((await admin.get('/people')).status).toBe(200);
  });

  it('a download that no event can be recorded of is cut, and the log says why', async () => {
    const [errors, warnings] = [jest.spyOn(Logger.prototype, 'error'), jest.spyOn(Logger.prototype, 'warn')];
    const error = new Error('the database is away');
    jest.spyOn(AuditRecorder.prototype, 'recordAct').mockRejectedValueOnce(error);

    await expect(admin.get('/inventory/download')).rejects.toThrow(/terminated/);

    await until(() => warnings.mock.calls.length === 1);
    const unrecorded = { message: 'download not recorded in the audit', resource: 'assets', rows: 0 };
    expect(errors.mock.calls).toMatchObject([[{ ...unrecorded, error }]]);
    expect(warnings.mock.calls).toMatchObject([[{ message: 'download cut off', error }]]);
  });
});
