import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { Settings } from '#libs/platform/config';
import { createConsole } from '../../apps/console/src/create-console';
import {
  type ConsoleBrowser,
  type Shown,
  type TestConsole,
  formWithFile,
  startConsole,
} from '../support/console-setting';
import { Sessions } from '../../libs/console/src/typeorm/sessions';
import { createTestDatabase } from '../support/test-database';
import { freePort } from '../support/free-port';

const XSS = '<img src=x onerror=alert(1)>.ndjson';
const ESCAPED = '&lt;img src=x onerror=alert(1)&gt;.ndjson';

/** How a person loses the right, and the status of the response. */
const LOSSES = Object.entries({ remove: 303, role: 403 });

const record = (externalId: string, more: object = {}) =>
  `${JSON.stringify({ externalId, categoryKey: 'CUSTOM', name: `Thing ${externalId}`, ...more })}\n`;

describe('An upload to the console', () => {
  let console: TestConsole;
  let directory: string;
  let ours: { id: string; slug: string };
  let theirs: { id: string; slug: string };
  let admin: ConsoleBrowser & { personId: string };
  beforeAll(async () => {
    const port = await freePort();
    directory = join(tmpdir(), `compliance-console-127.0.0.1-${port}`);
    mkdirSync(join(directory, 'left'), { recursive: true });
    writeFileSync(join(directory, 'left', 'over'), 'of an instance that was killed');
    console = await startConsole({ CONSOLE_PORT: String(port) }, await createTestDatabase());
    [ours, theirs] = [await console.aWorkspace('Ours'), await console.aWorkspace('Theirs')];
    admin = await console.signIn(ours.slug, 'admin');
  });
  afterAll(async () => {
    await console.stop();
    await console.database.drop();
  });

  const send = async (file: string | Buffer, fields: Record<string, string> = {}, browser: ConsoleBrowser = admin) => {
    const { name = 'things.ndjson', ...options } = fields;
    return browser.upload(await browser.uploadAddress(), formWithFile(file, name, options));
  };
  const tried = async (...sent: Parameters<typeof send>) => {
    const { status, headers, text } = await send(...sent);
    if (status !== 303) throw new Error(`${status} ${text}`);
    const path = headers.get('location') ?? '';
    return { path, page: await (sent[2] ?? admin).ended(path) };
  };
  const importNow = async (path: string, browser: ConsoleBrowser = admin) => {
    const { headers } = await browser.submit(path, `${path}/import`);
    return { ...(await browser.ended(path)), requestId: headers.get('x-request-id') };
  };
  const counts = ({ text }: Shown): Record<string, number> =>
    Object.fromEntries<number>(
      [...text.matchAll(/<dt>(\w+)<\/dt><dd>([\d,]+)<\/dd>/g)].map(([, name = '', n = '']) => [
        name,
        Number(n.replaceAll(',', '')),
      ]),
    );
  /** The form, with why the file was refused beside it, and with what was typed. */
  const expectShownAgain = ({ status, text }: Shown, reason: string) => {
    expect(status).toBe(409);
    expect(text).toContain(`id="file-error">${reason}`);
    expect(text).toContain('value="second"');
  };
  const files = () => (existsSync(directory) ? readdirSync(directory, { recursive: true }).map(String) : []);
  const query = async (text: string, values: unknown[]) =>
    (await console.database.admin.query<Record<string, unknown>>(text, values)).rows;
  const assets = async (workspace = ours.id) =>
    (await query('SELECT count(*)::int AS n FROM asset WHERE workspace_id = $1', [workspace]))[0]?.['n'];

  it('begins with nothing of an earlier process', () => {
    expect(files()).toEqual([]);
  });

  it('stays when another console is started for the same port, which it never gets', async () => {
    await tried(record('stays'));
    const before = files();

    const other = await createConsole(console.app.get(Settings), pino({ level: 'silent' }));
    await other.close();

    expect(files()).toEqual(before);
  });

  it('is refused while too many files lie there, and says so', async () => {
    const others = Array.from({ length: 20 }, (_, place) => join(directory, `other-${place}`));
    for (const other of others) mkdirSync(other);

    const { status, text } = await send(record('crowded'));
    for (const other of others) rmSync(other, { recursive: true });

    expect([status, text.includes('Too many files are on their way.')]).toEqual([503, true]);
  });

  it('is tried first, then imported, by the person', async () => {
    const before = await assets();
    const input = record('a', { tags: [{ key: 'shelf' }] }) + record('b');

    const { path, page } = await tried(input, { createTagKeys: 'platform' });

    expect(page.text).toContain('Nothing is written yet');
    expect(counts(page)).toMatchObject({ Read: 2, Created: 2, Failed: 0 });
    expect(await assets()).toBe(before);
    const [stored = ''] = files().filter((file) => file.endsWith('things.ndjson'));
    expect(statSync(join(directory, stored)).mode & 0o777).toBe(0o600);
    const done = await importNow(path);
    expect(counts(done)).toMatchObject({ Read: 2, Created: 2 });
    expect(await assets()).toBe(Number(before) + 2);
    expect(files().filter((file) => file.endsWith('things.ndjson'))).toEqual([]);
    const [run] = await query(`SELECT * FROM import_run WHERE workspace_id = $1 AND source = 'hr'`, [ours.id]);
    expect(run).toMatchObject({
      ...{ outcome: 'COMPLETED', who: `person ${admin.personId}`, map: null },
      files: [{ name: 'things.ndjson', bytes: input.length }],
      options: { missing: 'keep', hideAtMost: null, createTagKeys: 'platform', strict: false },
    });
    const events = await query(
      `SELECT action, target_id, request_id FROM audit_event
        WHERE workspace_id = $1 AND actor_type = 'PERSON' AND actor_name = $2 AND target_type IN ('IMPORT', 'TAG_KEY')
        ORDER BY id`,
      [ours.id, admin.personId],
    );
    expect(events).toEqual([
      { action: 'tag_key.created', target_id: 'shelf', request_id: done.requestId },
      { action: 'import.completed', target_id: 'hr', request_id: done.requestId },
    ]);
    expect((await admin.get('/imports')).text).toContain(`/imports/${String(run?.['id'])}`);
    expect((await admin.get(`/imports/${String(run?.['id'])}`)).text).toContain('<dd>person The admin</dd>');
    expect(await console.admin('imports', 'show', String(run?.['id']))).toMatchObject({ who: admin.personId });
    expect(await console.admin('sources', 'list', '--workspace', ours.slug)).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({
          source: 'hr',
          lastImport: expect.objectContaining({ who: admin.personId }) as object,
        }),
      ]) as object[],
    });
  });

  it('looks for the session before the file comes and after it, and no more', async () => {
    const address = await admin.uploadAddress();
    const find = jest.spyOn(console.app.get(Sessions), 'find');

    const { headers } = await admin.upload(address, formWithFile(record('n'), 'n.ndjson'));
    const times = find.mock.calls.length;
    find.mockRestore();
    await admin.ended(headers.get('location') ?? '');

    expect(times).toBe(2);
  });

  it('reads what a tool exports by a ready map', async () => {
    const items = JSON.stringify({ value: [{ id: 'd1', deviceName: 'Laptop', serialNumber: 'S1' }] });

    const { path, page } = await tried(items, { name: 'x.json', source: 'intune', map: 'intune-devices' });

    expect(counts(page)).toMatchObject({ Read: 1, Created: 1 });
    expect(counts(await importNow(path))).toMatchObject({ Created: 1 });
    const [run] = await query(`SELECT map FROM import_run WHERE workspace_id = $1 AND source = 'intune'`, [ours.id]);
    expect(run).toEqual({ map: 'intune-devices' });
  });

  it('hides what the file does not name, as far as the limit allows', async () => {
    await importNow((await tried(record('1') + record('2'), { source: 'tickets' })).path);

    const refused = await tried(record('1'), { source: 'tickets', missing: 'hide', hideAtMost: '0%' });
    const allowed = await tried(record('1'), { source: 'tickets', missing: 'hide', hideAtMost: '1' });

    expect(refused.page.text).toMatch(/Nothing is hidden. 1 of the 2 visible assets[^]*href="\/imports\/new"/);
    expect((await admin.get('/imports/new')).text).toContain('value="tickets"');
    expect(counts(await importNow(allowed.path))).toMatchObject({ Unchanged: 1, Hidden: 1 });
    expect((await admin.get('/imports/new')).text).not.toContain('value="tickets"');
  });

  it('keeps failed records for a download, which can be mended and imported', async () => {
    const { path, page } = await tried(`${record('c')}{"externalId": "d", "name": "${XSS}"\n`);

    expect(counts(page)).toMatchObject({ Created: 1, Failed: 1 });
    await importNow(path);
    const download = await admin.get(`${path}/failed-records`);
    expect(download.headers.get('content-disposition')).toBe('attachment; filename=failed-records.ndjson');
    expect(download.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(download.text)).toMatchObject({ line: 2, text: `{"externalId": "d", "name": "${XSS}"` });
    expect((await tried(download.text)).page.text).toContain('<dt>Failed</dt><dd>1</dd>');
  });

  it('gives failed records from below a directory whose name begins with a dot', async () => {
    const directory = mkdtempSync(join(tmpdir(), '.uploads-'));
    const hidden = jest.spyOn(os, 'tmpdir').mockReturnValue(directory);
    const other = await startConsole({}, console.database);
    hidden.mockRestore();
    const browser = await other.signIn(ours.slug, 'admin');

    const { path } = await tried('{}\n', {}, browser);
    const { status, text } = await browser.get(`${path}/failed-records`);
    rmSync(directory, { recursive: true });
    const gone = await browser.get(`${path}/failed-records`);
    await other.stop();

    expect([status, text.includes('"line":1')]).toEqual([200, true]);
    // A page to look at, no file.
    expect([gone.status, gone.headers.get('content-disposition')]).toEqual([404, null]);
  });

  it('shows the name of the file and its error lines as text', async () => {
    const { path, page } = await tried(record('e', { categoryKey: '<img src=x>' }), { name: XSS });

    expect(page.text).toContain(`<h1>Dry run of ${ESCAPED}</h1>`);
    expect(counts(page)).toMatchObject({ Failed: 1 });
    for (const { text } of [page, await importNow(path), await admin.get('/imports')])
      expect(text).not.toContain('<img');
    const [run] = await query(`SELECT id FROM import_run WHERE files @> $1`, [JSON.stringify([{ name: XSS }])]);
    expect((await admin.get(`/imports/${String(run?.['id'])}`)).text).toContain(ESCAPED);
  });

  it('stores a name of any kind in its own place', async () => {
    for (const name of ['../../etc/passwd.ndjson', '...', 'ünïcödé.ndjson', `${'long'.repeat(90)}.ndjson`]) {
      const { page } = await tried(record('f'), { name });
      expect([name, counts(page)]).toEqual([name, expect.objectContaining({ Read: 1 })]);
    }
    expect((await admin.get('/imports')).text).toContain('longlong.ndjson');
  });

  it('shows what is wrong beside its field, keeps what was typed, and stores nothing', async () => {
    const before = files();
    const refused = [
      await send('x', { source: '' }),
      await send('x', { source: 'ä'.repeat(60) }),
      await send('x', { map: '../../secret' }),
      await send('x', { format: 'json' }),
      await send('x', { missing: 'hide', hideAtMost: '101%' }),
      await send('x', { hideAtMost: '5' }),
      await send('x', { missing: 'erase' }),
      await send('x', { name: 'control\u0001.csv' }),
    ];

    const fields = ['source', 'source', 'map', 'format', 'hideAtMost', 'hideAtMost', 'missing', 'file'];
    for (const [place, { status, text }] of refused.entries()) {
      expect([status, text.includes(`id="${fields[place]}-error"`)]).toEqual([400, true]);
    }
    expect(refused[4]?.text).toContain('value="101%"');
    for (const source of ['hr', '']) {
      const none = new FormData();
      none.set('source', source);
      none.set('missing', 'keep');
      const { status, text } = await admin.upload(await admin.uploadAddress(), none);
      const named = ['file', 'source'].map((field) => text.includes(`id="${field}-error"`));
      expect([status, ...named]).toEqual([400, true, source === '']);
    }
    expect(files()).toEqual(before);
  });

  it('refuses a form that is none of its own, without a failure', async () => {
    const before = files();
    const address = await admin.uploadAddress();
    const twice = formWithFile('x', 'x');
    twice.append('file', new Blob(['y']), 'y');
    const nested = formWithFile('x', 'x', { 'source[a]': 'b' });
    const long = formWithFile('x', 'x', { source: 'x'.repeat(3_000) });

    const statuses = [];
    for (const form of [twice, nested, long]) statuses.push((await admin.upload(address, form)).status);
    const broken = await admin.post(address, {}, { 'Content-Type': 'multipart/form-data' });

    expect([...statuses, broken.status]).toEqual([400, 400, 400, 400]);
    expect(files()).toEqual(before);
  });

  it('of more than 100 MB gets 413 beside its field, keeps what was typed, and nothing of the file', async () => {
    const before = files();

    const { status, text } = await send(Buffer.alloc(100_000_001, '\n'), { source: 'large' });

    expect([status, /value="large"[^]*id="file-error">The file is longer than 100 MB/.test(text)]).toEqual([413, true]);
    expect(files()).toEqual(before);
  });

  it('says why a file cannot be read, without its place, and keeps what was typed', async () => {
    const { page } = await tried(Buffer.from([0x1f, 0x8b, 1, 2, 3, 4]), { name: `${XSS}.gz`, source: 'leavers' });

    expect(page.text).toContain(`${ESCAPED}.gz cannot be unzipped`);
    expect(page.text).not.toContain(directory);
    expect(files().filter((file) => file.endsWith('.gz'))).toEqual([]);
    expect((await admin.get('/imports/new')).text).toContain('value="leavers"');
  });

  const END = '\r\n--b--\r\n';
  /** Begins to send a file, and never ends it. */
  const sendHalf = async (browser: ConsoleBrowser = admin, before = '') => {
    const address = await browser.uploadAddress();
    const half = `${before}--b\r\nContent-Disposition: form-data; name="file"; filename="half"\r\n\r\n${'x'.repeat(100_000)}`;
    const sending = request(`${console.origin}${address}`, {
      method: 'POST',
      headers: {
        ...{ Cookie: browser.cookieHeader, Origin: console.origin },
        ...{ 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': half.length + END.length },
      },
    });
    sending.on('error', () => undefined);
    sending.write(half);
    while (!files().some((file) => file.endsWith('half'))) await delay(20);
    return sending;
  };

  it('keeps nothing of an upload that is broken off', async () => {
    const before = files();
    const sending = await sendHalf();

    sending.destroy();

    while (files().length > before.length) await delay(20);
    expect(console.logLines.filter(({ message }) => message === 'request failed')).toEqual([]);
  });

  it('does nothing for a person who lost the right before the end of the file came', async () => {
    const part = '--b\r\nContent-Disposition: form-data; name=';
    const options = `${part}source\r\n\r\nlate\r\n${part}missing\r\n\r\nkeep\r\n`;
    const before = files();
    for (const [change, status] of LOSSES) {
      const leaver = await console.signIn(ours.slug, 'admin');
      const sending = await sendHalf(leaver, options);
      await admin.submit('/people', `/people/${leaver.personId}/${change}`);

      sending.end(END);
      const [response] = (await once(sending, 'response')) as [IncomingMessage];

      response.resume();
      expect([change, response.statusCode, files()]).toEqual([change, status, before]);
    }
    expect(await query(`SELECT id FROM import_run WHERE source = 'late'`, [])).toEqual([]);
  });

  it('is received beside those of other workspaces, and beside none of its own', async () => {
    const other = await console.signIn(theirs.slug, 'admin');
    const sending = await sendHalf();
    const stored = files();

    const second = await send(record('h'), { source: 'second' });
    const left = files();
    await tried(record('h'), { name: 'theirs.ndjson' }, other);

    sending.destroy();
    expectShownAgain(second, 'Another file of this workspace is on its way.');
    expect(left).toEqual(stored);
    while (files().some((file) => file.endsWith('half'))) await delay(20);
    expect((await tried(record('h'))).page.status).toBe(200);
  });

  it.each(LOSSES)('gives its place to the next one when its person lost the right (%s)', async (change, status) => {
    const leaver = await console.signIn(ours.slug, 'admin');
    const sending = await sendHalf(leaver);
    await admin.submit('/people', `/people/${leaver.personId}/${change}`);

    const { page } = await tried(record('h'));
    const left = files().filter((file) => file.endsWith('half'));
    sending.end(END);
    const [response] = (await once(sending, 'response')) as [IncomingMessage];

    response.resume();
    expect([counts(page)['Read'], left, response.statusCode]).toEqual([1, [], status]);
  });

  it('makes one import of two sends, and one of a workspace at a time', async () => {
    const { path } = await tried(record('g'), { source: 'slow' });
    const shown = await admin.get(path);
    await query(`SELECT pg_advisory_lock(hashtextextended('console import ' || $1, 0))`, [ours.id]);

    const elsewhere = await importNow(path);
    expect(elsewhere.text).toContain('An import by the console is already running in this workspace');
    await query('SELECT pg_advisory_unlock_all()', []);
    const sends = await Promise.all([1, 2].map(() => admin.post(`${path}/import`, shown.fields(`${path}/import`))));

    expect(sends.map(({ status }) => status)).toEqual([303, 303]);
    await admin.ended(path);
    const runs = await query(`SELECT outcome FROM import_run WHERE workspace_id = $1 AND source = 'slow'`, [ours.id]);
    expect(runs).toEqual([{ outcome: 'COMPLETED' }]);
  });

  it('refuses a second file while one is under way', async () => {
    const many = Array.from({ length: 60_000 }, (_, n) => record(`m${n}`)).join('');
    const { headers } = await send(many, { source: 'many' });
    const path = headers.get('location') ?? '';

    const second = await send(record('h'), { source: 'second' });

    expectShownAgain(second, 'An import of this workspace is under way.');
    expect(counts(await admin.ended(path))).toMatchObject({ Created: 60_000 });
    expect(files().filter((file) => file.endsWith('things.ndjson'))).toHaveLength(1);
    await tried(record('h'));
    expect(files().filter((file) => file.endsWith('things.ndjson'))).toHaveLength(1);
  });

  it('says "upload again" where the file is not', async () => {
    const { path } = await tried(record('i'));
    await tried(record('j'));

    const gone = [await admin.get(path), await admin.get('/imports/uploads/x')];
    const form = (await admin.get('/people')).fields();
    gone.push(await admin.post(`${path}/import`, form));

    for (const { status, text } of gone) expect([status, text.includes('Upload the file again')]).toEqual([404, true]);
  });

  it('is for administrators of the workspace, by a form of their session', async () => {
    const before = files();
    const [viewer, other] = [await console.signIn(ours.slug, 'viewer'), await console.signIn(theirs.slug, 'admin')];
    const { path } = await tried(record('k'));
    const address = await admin.uploadAddress();
    const token = Object.fromEntries(new URL(address, console.origin).searchParams);
    const form = () => formWithFile(record('l'), 'l.ndjson');
    const own = new URLSearchParams((await viewer.get('/')).fields()).toString();

    expect((await viewer.get('/imports')).text).not.toContain('/imports/new');
    for (const page of ['/imports/new', path, `${path}/failed-records`]) {
      expect([page, (await viewer.get(page)).status]).toEqual([page, 403]);
      expect([page, (await console.browser().get(page)).headers.get('location')]).toEqual([page, '/sign-in']);
      if (page !== '/imports/new') expect([page, (await other.get(page)).status]).toEqual([page, 404]);
    }
    const refused = [
      await viewer.upload(`/imports?${own}`, form()),
      await other.upload(address, form()),
      await admin.upload('/imports', form()),
      await admin.upload(address, form(), { Origin: 'https://evil.example' }),
      await viewer.post(`${path}/import`, (await viewer.get('/')).fields()),
      await admin.post(`${path}/import`, {}),
      await admin.post(`${path}/import`, { ...token, csrf: 'x' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(Array(7).fill(403));
    expect((await console.browser().upload(address, form())).headers.get('location')).toBe('/sign-in');
    const otherForm = (await other.get('/people')).fields();
    expect((await other.post(`${path}/import`, otherForm)).status).toBe(404);
    expect((await admin.get(`${path}/import`)).status).toBe(404);
    // Another page takes no token from its address, unless it gets a file.
    expect((await admin.post(`/people?${new URLSearchParams(token).toString()}`, { name: 'x' })).status).toBe(403);
    expect(files().filter((file) => file.endsWith('l.ndjson'))).toEqual([]);
    expect(files().length).toBeGreaterThanOrEqual(before.length);
    expect((await admin.get(path)).text).toContain('Import now');
  });

  it('of one workspace leaves the other ones alone', async () => {
    const other = await console.signIn(theirs.slug, 'admin');
    const before = await assets();

    const { path } = await tried(record('a'), {}, other);
    await importNow(path, other);

    expect([await assets(), await assets(theirs.id)]).toEqual([before, 1]);
  });
});
