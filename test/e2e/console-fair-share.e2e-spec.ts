import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type ConsoleBrowser, type TestConsole, startConsole } from '../support/console-setting';
import { FairShare } from '../../libs/console/src/http/fair-share';
import { Sessions } from '../../libs/console/src/typeorm/sessions';
import { until } from '../support/until';
import { someoneWaits } from '../support/waiting-sessions';

describe('A person who asks for many pages of the console at once', () => {
  let console: TestConsole;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterAll(() => console.stop());

  it('gets three of them, then 429 with a page that loads itself again, and others get theirs', async () => {
    const { slug } = await console.aWorkspace();
    const [many, other] = [await console.signIn(slug, 'viewer'), await console.signIn(slug, 'viewer')];
    const form = (await many.get('/')).fields('/sign-out');

    await console.database.admin.query('BEGIN; LOCK TABLE import_run IN ACCESS EXCLUSIVE MODE');
    const first = [1, 2, 3].map(() => many.get('/imports'));
    await someoneWaits(console.database, 3);
    const page = await many.get('/imports');
    const [others, signedOut] = [await other.get('/computers'), await many.post('/sign-out', form)];
    await console.database.admin.query('ROLLBACK');

    expect([page.status, page.headers.get('refresh')]).toEqual([429, '1']);
    expect(page.text).toContain('Too many of your pages are under way.');
    expect([others.status, signedOut.status]).toEqual([200, 303]);
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it.each(['owner', '%6Fwner'])(
    'looks for two owners at once by %s, which takes half the connections of an instance at most',
    async (field) => {
      const { slug } = await console.aWorkspace();
      const [many, other] = [await console.signIn(slug, 'admin'), await console.signIn(slug, 'viewer')];
      const form = { ...(await many.get('/')).fields('/sign-out'), ids: randomUUID(), owner: 'ada' };
      const search = () => many.post(`/inventory/ticked/${field}`, form);

      await console.database.admin.query('BEGIN; LOCK TABLE asset IN ACCESS EXCLUSIVE MODE');
      const first = [search(), search()];
      await someoneWaits(console.database, 2);
      const [third, others] = [await search(), await other.get('/imports')];
      await console.database.admin.query('ROLLBACK');

      expect([third.status, others.status]).toEqual([429, 200]);
      expect((await Promise.all(first)).map(({ status }) => status)).toEqual([400, 400]);
    },
  );

  it('gets the next one when one of them is there', async () => {
    const { slug } = await console.aWorkspace();
    const person = await console.signIn(slug, 'viewer');

    for (let times = 0; times < 5; times += 1) expect((await person.get('/imports')).status).toBe(200);
  });

  it('gets no other page for those that were left, until the work for them ended', async () => {
    const { slug } = await console.aWorkspace();
    const [person, other] = [await console.signIn(slug, 'viewer'), await console.signIn(slug, 'viewer')];
    const headers = { Cookie: person.cookieHeader };
    const ask = () => request(`${console.origin}/imports`, { headers }).on('error', () => undefined);

    await console.database.admin.query('BEGIN; LOCK TABLE import_run IN ACCESS EXCLUSIVE MODE');
    const asked = [1, 2, 3].map(() => ask().end());
    await someoneWaits(console.database, 3);
    for (const page of asked) page.destroy();
    await until(() => console.logLines.filter(({ message }) => message === 'request aborted').length === 3);
    const [page, others] = [await person.get('/imports'), await other.get('/computers')];
    await console.database.admin.query('ROLLBACK');

    expect([page.status, others.status]).toEqual([429, 200]);
    await until(async () => (await person.get('/imports')).status === 200);
  });
});

describe('A person who sends many forms to the console', () => {
  let console: TestConsole;
  let person: ConsoleBrowser & { readonly personId: string };
  let sending: ClientRequest[];
  beforeAll(async () => {
    console = await startConsole();
    person = await console.signIn((await console.aWorkspace()).slug, 'viewer');
  });
  beforeEach(() => (sending = []));
  afterEach(() => sending.forEach((one) => one.destroy()));
  afterAll(() => console.stop());

  /** Begins a form and keeps back its end. Returns the status, once there is one. */
  const begin = (): Promise<number | undefined> => {
    const headers = { Cookie: person.cookieHeader, Origin: console.origin };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': 200_000 };
    const sent = request(`${console.origin}/workspaces`, { method: 'POST', headers: { ...headers, ...form } });
    sent.on('error', () => undefined).write('csrf=');
    sending.push(sent);
    return once(sent, 'response').then(([response]) => (response as IncomingMessage).resume().statusCode);
  };

  it('has five of them read at once, and the next one when one of them ended', async () => {
    const fields = (await person.get('/workspaces')).fields('/workspaces');
    const statuses = Array.from({ length: 6 }, begin);
    for (const one of statuses) one.catch(() => undefined);
    const refused = [await Promise.any(statuses), (await person.post('/workspaces', fields)).status];
    const page = await person.get('/');

    for (const one of sending) one.destroy();

    let next = 429;
    await until(async () => (next = (await person.post('/workspaces', fields)).status) !== 429);
    expect([refused, page.status, next]).toEqual([[429, 429], 200, 303]);
  });

  it('has none of them done that was left before its turn', async () => {
    let go = (): void => undefined;
    const turn = new Promise<void>((resolve) => (go = resolve));
    const charge = jest.spyOn(FairShare.prototype, 'charge').mockReturnValueOnce(turn);
    const end = jest.spyOn(Sessions.prototype, 'end');
    const left = new AbortController();
    const { csrf = '', workspace = '' } = (await person.get('/workspaces')).fields();
    const headers = { Cookie: person.cookieHeader, Origin: console.origin };
    const form = { method: 'POST', headers, body: new URLSearchParams({ csrf, workspace }), signal: left.signal };
    const sent = fetch(`${console.origin}/sign-out`, form).catch(() => null);

    await until(() => charge.mock.calls.length > 0);
    left.abort();
    await sent;
    await until(() => charge.mock.calls[0]?.[0].closed === true);
    go();

    expect((await person.get('/')).status).toBe(200);
    expect(end).not.toHaveBeenCalled();
    jest.restoreAllMocks();
  });

  it('gets 300 of them a minute, and others get theirs', async () => {
    const other = await console.signIn((await console.aWorkspace()).slug, 'viewer');
    const fields = (await person.get('/workspaces')).fields('/workspaces');

    let [sent, refused] = [0, await person.post('/workspaces', fields)];
    for (; refused.status === 303 && sent < 900; sent += 1) refused = await person.post('/workspaces', fields);

    expect(sent).toBeGreaterThan(280);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(refused.text).toContain('You get 300 forms a minute.');
    expect((await other.submit('/workspaces', '/workspaces')).status).toBe(303);
  });
});
