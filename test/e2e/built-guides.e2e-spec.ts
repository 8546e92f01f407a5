import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GUIDES } from '../../libs/docs-site/src/guides/guide-list';
import { root } from '../architecture/project-files';
import { freePort } from '../support/free-port';
import { RunningCommand } from '../support/running-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

/** As in an image, which has neither sources nor a compiler. */
describe('The guides of a build', () => {
  let database: TestDatabase;
  let copy: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    copy = mkdtempSync(join(tmpdir(), 'build-'));
    cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    rmSync(copy, { recursive: true, force: true });
    await database.drop();
  });

  const built = (): { pages: Record<string, string>; index: object } =>
    JSON.parse(readFileSync(join(copy, 'dist/guides.json'), 'utf8')) as ReturnType<typeof built>;

  it('are made of the Markdown of today', () => {
    rmSync(join(copy, 'dist/guides.json'));
    for (const folder of ['docs', 'libs/client']) cpSync(join(root, folder), join(copy, folder), { recursive: true });
    const { status } = spawnSync(process.execPath, [join(copy, 'dist/libs/docs-site/src/guides/write-guides.js')]);
    for (const folder of ['docs', 'libs']) rmSync(join(copy, folder), { recursive: true });

    expect(status).toBe(0);
    expect(Object.keys(built().pages)).toEqual(GUIDES.map(({ name }) => name));
    expect(built()).toEqual(JSON.parse(readFileSync(join(root, 'dist/guides.json'), 'utf8')));
  });

  it('are served as they were built, with the index of their search', async () => {
    const index = { madeBy: 'the build' };
    writeFileSync(join(copy, 'dist/guides.json'), JSON.stringify({ ...built(), index }));
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const settings = { DATABASE_URL: database.databaseUrl, PORT: String(port), MANAGEMENT_PORT: '0' };
    const api = new RunningCommand(join(copy, 'dist/apps/api/src/main.js'), [], { ...settings, LOCAL_DIR: copy });
    await api.said('"message":"serving"');

    const first = await fetch(`${origin}/docs/guides-index.json`);
    const page = await fetch(`${origin}/docs/guides/errors`);

    expect([first.status, await first.json()]).toEqual([200, index]);
    expect([page.status, await page.text()]).toEqual([
      200,
      built().pages['errors']?.replaceAll('https://api.example.com', origin),
    ]);
  });
});
