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

  /** Sends the file. Returns the path of its dry run, when that ended. */
  const tried = async (file: string, source: string): Promise<string> => {
    const form = formWithFile(file, 'x.ndjson', { source });
    const path = (await admin.upload(await admin.uploadAddress(), form)).headers.get('location') ?? '';
    await admin.ended(path);
    return path;
  };

  it.each([
    ['at once', 0],
    ['after a batch', BATCH],
  ])('%s is recorded as failed, and its page says what stays', async (source, before) => {
    const ids = [...Array.from({ length: before }, (_, n) => `${source} ${n}`), 'bad'];
    const lines = ids.map((externalId) => JSON.stringify({ externalId, categoryKey: 'CUSTOM', name: 'Thing' }));
    const file = `${lines.join('\n')}\n`;
    const path = await tried(file, source);

    const planted = "CONSTRAINT planted CHECK (external_id <> 'bad') NOT VALID";
    await console.database.admin.query(`ALTER TABLE asset ADD ${planted}`);
    await admin.submit(path, `${path}/import`);
    const { text } = await admin.ended(path);
    await console.database.admin.query('ALTER TABLE asset DROP CONSTRAINT planted');

    expect(/<h1>(.*)<\/h1>/.exec(text)?.[1]).toBe('Ended: x.ndjson');
    expect(text).toContain('What was written before its end stays');
    const { rows } = await console.database.admin.query(
      `SELECT outcome, files, (SELECT count(*)::int FROM asset WHERE asset.source = import_run.source) AS assets
         FROM import_run WHERE source = $1`,
      [source],
    );
    expect(rows).toEqual([{ outcome: 'FAILED', files: [{ name: 'x.ndjson', bytes: file.length }], assets: before }]);
  });

  /** Tries the file, and imports it. */
  const send = async (file: string): Promise<number> => {
    const path = await tried(file, 'bad');
    const { status } = await admin.submit(path, `${path}/import`);
    await admin.ended(path);
    return status;
  };

  it('leaves a record of half a megabyte at most, however long its reasons are', async () => {
    const names = Array.from({ length: 20 }, (_, n) => [`${'x'.repeat(60)}${n}`, n]);
    const line = JSON.stringify({ categoryKey: 'CUSTOM', ...(Object.fromEntries(names) as object) });

    await send(`${line}\n`.repeat(1_000));

    const size =
      'SELECT jsonb_array_length(errors) AS count, length(errors::text) AS length FROM import_run WHERE source = $1';
    const [errors] = (await console.database.admin.query<{ count: number; length: number }>(size, ['bad'])).rows;
    expect(errors).toEqual({ count: 1_000, length: expect.any(Number) as number });
    expect(errors?.length).toBeLessThan(500_000);
  });

  it('is begun 30 times a minute by a person, also where there is nothing to import', async () => {
    const begin = '/imports/uploads/00000000-0000-4000-8000-000000000000/import';
    const fields = (await admin.get('/imports/new')).fields();
    const statuses = [];
    while (statuses.at(-1) !== 429 && statuses.length < 60) statuses.push((await admin.post(begin, fields)).status);

    expect([statuses.length > 25, statuses.at(-1)]).toEqual([true, 429]);
  });
});
