import { type ConsoleBrowser, type TestConsole, startConsole } from '../support/console-setting';
import { TcpProxy } from '../support/tcp-proxy';
import { createTestDatabase } from '../support/test-database';

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

  it('a page says so with 503, and works again afterwards', async () => {
    const before = await admin.get('/people');
    await proxy.set('refuse');

    const refused = [await admin.get('/people'), await admin.post('/people', before.fields('/people'))];
    await proxy.set('forward');

    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    for (const { text } of refused) expect(text).toContain('The database does not respond. Try again in a minute.');
    expect((await admin.get('/people')).status).toBe(200);
  });
});
