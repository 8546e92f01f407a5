import { gzipSync } from 'node:zlib';
import { type ConsoleBrowser, type TestConsole, formWithFile, startConsole } from '../support/console-setting';
import { AWAITED_LOCKS, createTestDatabase } from '../support/test-database';
import { until } from '../support/until';

const RECORD = '{"externalId":"a","categoryKey":"CUSTOM","name":"A"}';

describe('An import by the console has a process that', () => {
  let console: TestConsole;
  let admin: ConsoleBrowser;
  let slug: string;
  beforeAll(async () => {
    console = await startConsole({}, await createTestDatabase());
    ({ slug } = await console.aWorkspace());
    admin = await console.signIn(slug, 'admin');
  });
  afterAll(async () => {
    await console.stop();
    await console.database.drop();
  });

  const send = async (file: Buffer | string, name: string, fields: Record<string, string> = {}, browser = admin) => {
    const { headers } = await browser.upload(await browser.uploadAddress(), formWithFile(file, name, fields));
    return headers.get('location') ?? '';
  };
  const textAfter = async (...sent: Parameters<typeof send>) => (await admin.ended(await send(...sent))).text;

  it('ends the reading of a document that needs more than its own memory', async () => {
    const document = `{"a":[${'{"b":[]},'.repeat(2_000_000)}0]}`;

    const text = await textAfter(gzipSync(document), 'x.json.gz', { map: 'aws-ec2' });

    expect(text).toMatch(/The document needs more memory than this process has, 2\d\d MB/);
    expect((await admin.get('/imports')).status).toBe(200);
  });

  it('ends alone where one object does not fit into its memory', async () => {
    const members = Array.from({ length: 3_000_000 }, (_, n) => `"${n}m":0`);

    const text = await textAfter(gzipSync(`{"a":{${members.join(',')}}}`), 'x.json.gz', { map: 'aws-ec2' });

    expect(text).toContain('The import needs more memory than it gets.');
    expect(await textAfter(RECORD, 'x.ndjson')).toContain('Dry run of x.ndjson');
  });

  it('ends with the console, and the record of its import says so', async () => {
    const other = await startConsole({}, console.database);
    const browser = await other.signIn(slug, 'admin');
    const path = await send(RECORD, 'x.ndjson', { source: 'stopped' }, browser);
    await browser.ended(path);
    const holder = await console.database.admin.connect();
    await holder.query('BEGIN; LOCK TABLE asset IN SHARE MODE');
    await browser.submit(path, `${path}/import`);
    const waiting = `SELECT FROM ${AWAITED_LOCKS} AND relation = 'asset'::regclass`;
    await until(async () => (await holder.query(waiting)).rowCount === 1);

    await other.stop();
    await holder.query('ROLLBACK');
    holder.release();

    const { items } = (await console.admin('imports', 'list', '--source', 'stopped')) as { items: object[] };
    expect(items).toMatchObject([{ outcome: 'INTERRUPTED' }]);
    const { rows } = await console.database.admin.query(`SELECT FROM asset WHERE source = 'stopped'`);
    expect(rows).toEqual([]);
  });
});
