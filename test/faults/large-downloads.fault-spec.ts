import { runAdminOn } from '../support/admin-command';
import { ApiProcess } from '../support/api-process';
import { ApiUnderWatch } from '../support/api-under-watch';
import { ConsoleBrowser } from '../support/console-setting';
import { documentOf } from '../support/finished-command';
import { freePort } from '../support/free-port';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { AS_STARTED, MOST_GROWTH_MB, growthOf } from './memory';
import { MINUTE, tell } from './sizes';

const ROWS = 1_000;
const PEOPLE = 4;

describe('Downloads of 1,000 assets with 50 tags of 1,000 characters', () => {
  let database: TestDatabase;
  let api: ApiUnderWatch;
  let console: ApiProcess;
  let port: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiUnderWatch.start(database);
    const managementPort = String(await freePort());
    port = String(await freePort());
    const environment = {
      ...{ CONSOLE_DATABASE_URL: database.consoleDatabaseUrl, CONSOLE_PORT: port },
      ...{ CONSOLE_MANAGEMENT_PORT: managementPort, NODE_ENV: 'test' },
      ...{ LOG_LEVEL: 'info', LOCAL_DIR: process.env['TEST_LOCAL_DIR'] as string },
      ...AS_STARTED,
    };
    console = new ApiProcess(environment, 'pipe', 'console');
    await console.serving();
  }, MINUTE);
  afterAll(async () => {
    await console.kill();
    await api.stop();
    await database.drop();
  });

  it(
    'grow the process by at most 200 MB for four people at once',
    async () => {
      const { id, slug } = documentOf(await admin('workspaces', 'create', 'acme', '--name', 'Acme')) as Texts;
      await api.arrange.manyAssets(id, ROWS);
      const tags = `(SELECT jsonb_agg(jsonb_build_object('key', n || repeat('k', 950), 'value', '', 'readOnly', true))
                       FROM generate_series(1, 50) AS n)`;
      await api.arrange.change(id, `UPDATE asset SET tags = ${tags} WHERE workspace_id = $1`, [id]);
      const browsers: ConsoleBrowser[] = [];
      for (let added = 0; added < PEOPLE; added += 1) browsers.push(await signedIn(slug, `${added}@example.com`));
      const growth = growthOf(console.pid);

      const files = await Promise.all(browsers.map((browser) => browser.get('/inventory/download')));
      const grown = growth();

      tell('downloads', { 'MB more': grown });
      expect(files.map(({ text }) => text.split('\n').length - 1)).toEqual(browsers.map(() => ROWS + 1));
      expect(grown).toBeLessThanOrEqual(MOST_GROWTH_MB);
    },
    2 * MINUTE,
  );

  async function signedIn(slug: string, email: string): Promise<ConsoleBrowser> {
    const person = ['--workspace', slug, '--email', email];
    documentOf(await admin('people', 'add', ...person, '--name', 'Ada', '--role', 'viewer'));
    const { url } = documentOf(await admin('console', 'link', ...person)) as Texts;
    const browser = new ConsoleBrowser(`http://127.0.0.1:${port}`);
    const path = url.slice(browser.origin.length);
    await browser.post(path, (await browser.get(path)).fields());
    return browser;
  }

  const admin = (...words: string[]) => runAdminOn(database, [...words, '--json'], { CONSOLE_PORT: port });
});

type Texts = Readonly<Record<'id' | 'slug' | 'url', string>>;
