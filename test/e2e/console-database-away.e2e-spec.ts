import { Logger } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import { type ConsoleBrowser, type TestConsole, formWithFile, startConsole } from '../support/console-setting';
import { TcpProxy } from '../support/tcp-proxy';
import { AWAITED_LOCKS, createTestDatabase } from '../support/test-database';
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

  it('an import fails, and the console lives on: the file can be uploaded again', async () => {
    const tried = async (whileTrying: () => Promise<void> = async () => undefined): Promise<string> => {
      const form = formWithFile('{"externalId":"a","categoryKey":"CUSTOM","name":"A"}', 'a.ndjson');
      const path = (await admin.upload(await admin.uploadAddress(), form)).headers.get('location') ?? '';
      await whileTrying();
      return /<h1[^>]*>([^<]*)/.exec((await admin.ended(path)).text)?.[1] ?? '';
    };
    const holder = await console.database.admin.connect();
    await holder.query('BEGIN; LOCK TABLE asset');

    const lost = await tried(async () => {
      const waiting = `SELECT FROM ${AWAITED_LOCKS} AND relation = 'asset'::regclass`;
      await until(async () => (await holder.query(waiting)).rowCount === 1);
      await proxy.set('refuse');
      await proxy.set('forward');
      await holder.query('ROLLBACK');
    });
    holder.release();

    expect([lost, await tried()]).toEqual(['Ended: a.ndjson', 'Dry run of a.ndjson']);
  });

  it('a download that no event can be recorded of is cut, and the log says why', async () => {
    const [errors, warnings] = [jest.spyOn(Logger.prototype, 'error'), jest.spyOn(Logger.prototype, 'warn')];
    const error = new Error('the database is away');
    jest.spyOn(AuditRecorder.prototype, 'recordExport').mockRejectedValueOnce(error);

    await expect(admin.get('/inventory/download')).rejects.toThrow(/terminated/);

    await until(() => warnings.mock.calls.length === 1);
    const unrecorded = { message: 'download not recorded in the audit', resource: 'assets', rows: 0 };
    expect(errors.mock.calls).toMatchObject([[{ ...unrecorded, error }]]);
    expect(warnings.mock.calls).toMatchObject([[{ message: 'download cut off', error }]]);
  });
});
