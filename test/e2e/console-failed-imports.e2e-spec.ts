import { type ConsoleBrowser, type TestConsole, formWithFile, startConsole } from '../support/console-setting';

/** As many records as a batch has. */
const BATCH = 5_000;

describe('An import by the console that fails', () => {
  let console: TestConsole;
  let admin: ConsoleBrowser;
  beforeAll(async () => {
    console = await startConsole();
    admin = await console.signIn((await console.aWorkspace()).slug, 'admin');
  });
  afterAll(() => console.stop());

  it.each([
    ['at once', 0, 'Not imported: x.ndjson'],
    ['after a batch', BATCH, 'Stopped after 5,000 changes: x.ndjson'],
  ])('%s is recorded as failed, and its page says what stays', async (source, before, title) => {
    const ids = [...Array.from({ length: before }, (_, n) => `${source} ${n}`), 'bad'];
    const lines = ids.map((externalId) => JSON.stringify({ externalId, categoryKey: 'CUSTOM', name: 'Thing' }));
    const file = `${lines.join('\n')}\n`;
    const form = formWithFile(file, 'x.ndjson', { source });
    const path = (await admin.upload(await admin.uploadAddress(), form)).headers.get('location') ?? '';
    await admin.ended(path);

    const planted = "CONSTRAINT planted CHECK (external_id <> 'bad') NOT VALID";
    await console.database.admin.query(`ALTER TABLE asset ADD ${planted}`);
    await admin.submit(path, `${path}/import`);
    const { text } = await admin.ended(path);
    await console.database.admin.query('ALTER TABLE asset DROP CONSTRAINT planted');

    expect(/<h1>(.*)<\/h1>/.exec(text)?.[1]).toBe(title);
    const { rows } = await console.database.admin.query(
      `SELECT outcome, files, (SELECT count(*)::int FROM asset WHERE asset.source = import_run.source) AS assets
         FROM import_run WHERE source = $1`,
      [source],
    );
    expect(rows).toEqual([{ outcome: 'FAILED', files: [{ name: 'x.ndjson', bytes: file.length }], assets: before }]);
  });
});
