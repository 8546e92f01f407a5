import { once } from 'node:events';
import { type IncomingMessage, type Server, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConsoleBrowser, type TestConsole, formWithFile, startConsole } from '../support/console-setting';
import { FairShare } from '../../libs/console/src/http/fair-share';
import { Sessions } from '../../libs/console/src/typeorm/sessions';
import { freePort } from '../support/free-port';
import { until } from '../support/until';

/** A part of an address that names somebody or something. */
const NAMED = /ci_\w+|[0-9a-f-]{36}/;

describe('An attacker of the console', () => {
  let console: TestConsole;
  let ours: { id: string; slug: string };
  let theirs: { id: string; slug: string };
  let viewer: ConsoleBrowser & { personId: string };
  let personId: string;
  let clientId: string;
  beforeAll(async () => {
    console = await startConsole();
    [ours, theirs] = [await console.aWorkspace('Ours'), await console.aWorkspace('Theirs')];
    viewer = await console.signIn(ours.slug, 'viewer');
    ({ personId } = await console.signIn(ours.slug, 'viewer'));
    const application = ['--workspace', ours.slug, '--name', 'SIEM', '--scope', 'inventory:read'];
    clientId = (await console.admin('applications', 'create', ...application))['client_id'] as string;
  });
  afterAll(() => console.stop());

  describe('every action', () => {
    const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
    interface Layer {
      readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
    }
    /** The addresses of the console by method, with an application and a person who are there. */
    const addresses = (method: 'get' | 'post'): string[] => {
      const { router } = console.app.getHttpAdapter().getInstance() as { router: { stack: Layer[] } };
      const paths = router.stack.flatMap(({ route }) => (route?.methods[method] === true ? [route.path] : []));
      return [...new Set(paths)].sort().map((path) =>
        path
          .replace(/^\/inventory\/(:id|ticked)\/:field/, '/inventory/$1/owner')
          .replace(':client_id', clientId)
          .replace(/^\/people\/:id/, `/people/${personId}`)
          .replace(':id', '00000000-0000-4000-8000-000000000000'),
      );
    };
    const actions = (): string[] => addresses('post').filter((path) => !path.startsWith('/sign-in/'));

    it('needs a session, and an administrator unless it is about the own session', async () => {
      const fields = (await viewer.get('/')).fields('/sign-out');
      expect(actions().length).toBeGreaterThan(10);
      for (const path of actions()) {
        const stranger = await console.browser().post(path, fields);
        expect([path, stranger.status, stranger.headers.get('location')]).toEqual([path, 303, '/sign-in']);
        if (['/sign-out', '/workspaces'].includes(path)) continue;
        expect([path, (await viewer.post(path, fields)).status]).toEqual([path, 403]);
      }
      const closed = [];
      for (const path of addresses('get')) if ((await viewer.get(path)).status === 403) closed.push(path.split('/')[1]);
      expect([...new Set(closed)]).toEqual(['applications', 'imports', 'people']);
    });

    it('needs the form of its own session, sent by POST', async () => {
      const [admin, other] = [await console.signIn(ours.slug, 'admin'), await console.signIn(ours.slug, 'admin')];
      const stolen = (await other.get('/')).fields('/sign-out');
      const own = (await admin.get('/')).fields('/sign-out');
      const query = new URLSearchParams((await admin.get('/')).fields('/sign-out')).toString();
      const before = await console.database.admin.query('SELECT count(*) FROM audit_event');
      for (const path of actions()) {
        const refused = [
          await admin.post(path, stolen),
          await admin.post(`${path}?${query}`, {}),
          await admin.post(path, { ...own, workspace: theirs.id }),
        ];
        expect([path, ...refused.map(({ status }) => status)]).toEqual([path, 403, 403, 403]);
        // Where a page has the same address, it is that page. That of signing out leads to the overview.
        expect([200, 302, 400, 403, 404]).toContain((await admin.get(`${path}?${query}`)).status);
      }
      expect((await console.database.admin.query('SELECT count(*) FROM audit_event')).rows).toEqual(before.rows);
      expect((await admin.get('/')).status).toBe(200);
    });

    it('needs the form of the workspace that the session is in, unless it signs out', async () => {
      const both = ['--email', 'both@example.com', '--name', 'Both', '--role', 'admin'];
      await console.admin('people', 'add', '--workspace', theirs.slug, ...both);
      const admin = await console.signIn(ours.slug, 'admin', 'both@example.com');
      const before = (await admin.get('/')).fields('/sign-out');
      await admin.submit('/workspaces', '/workspaces', { to: theirs.id });

      const paths = actions().filter((path) => path !== '/sign-out');
      const refused = [];
      for (const path of paths) refused.push([path, (await admin.post(path, before)).status]);
      const upload = await admin.upload(`/imports?${new URLSearchParams(before).toString()}`, formWithFile('x', 'x'));

      expect([...refused, upload.status]).toEqual([...paths.map((path) => [path, 409]), 409]);
      expect([(await admin.post('/sign-out', before)).status, admin.cookies]).toEqual([303, {}]);
    });

    it('takes no body of another kind, none that is too large, and never fails', async () => {
      jest.spyOn(console.app.get(FairShare), 'charge').mockResolvedValue();
      const admin = await console.signIn(ours.slug, 'admin');
      const fields = (await admin.get('/')).fields('/sign-out');
      const query = new URLSearchParams(fields).toString();
      const odd = ['\0', '\u{10FFFF}'.repeat(50), '__proto__', 'a'.repeat(30_000), '=cmd', '../..', '%', '[]', '{}'];
      const names = [
        ...['name', 'scopes', 'overlap', 'jwk', 'kid', 'issuer', 'subject', 'trust', 'read', 'email', 'role', 'owner'],
        ...[
          'description',
          'classification',
          'tags',
          'ids',
          'filters',
          'to',
          'once',
          'noSecret',
          '__proto__',
          'toString',
        ],
      ];
      const send = async (path: string, type: string, body: string, more: Record<string, string> = {}) => {
        const cookie = Object.entries(admin.cookies).map(([name, value]) => `${name}=${value}`);
        const headers = { 'Content-Type': type, Origin: console.origin, Cookie: cookie.join('; '), ...more };
        return (await fetch(`${console.origin}${path}`, { method: 'POST', headers, body, redirect: 'manual' })).status;
      };
      const failed = [];
      for (const path of actions().filter((one) => one !== '/sign-out')) {
        const json = JSON.stringify(fields);
        const refused = [
          await send(path, 'application/json', json),
          await send(path, 'text/plain', query),
          await send(path, FORM['Content-Type'], query.repeat(600)),
          await send(path, `${FORM['Content-Type']}; charset=utf-7`, query),
          await send(path, FORM['Content-Type'], query, { 'Content-Encoding': 'x' }),
          await send(path, FORM['Content-Type'], `${query}&${query}`),
        ];
        expect([path, ...refused]).toEqual([path, 403, 403, 413, 415, 415, 403]);
        // The form of an upload names its session in the address.
        const boundary = 'multipart/form-data; boundary=b';
        const statuses = [
          await send(`${path}?${query}`, boundary, '--b\r\n\r\n\r\n--b--\r\n'),
          await send(`${path}?${query}`, boundary, ''),
        ];
        for (const [place, value] of odd.entries()) {
          const every = names.map((name) => [name, value] as [string, string]);
          statuses.push(
            await send(
              path,
              FORM['Content-Type'],
              new URLSearchParams([...Object.entries(fields), ...every]).toString(),
            ),
          );
          // A third of them shows what becomes of names that come twice.
          if (place % 3 > 0) continue;
          const twice = [...Object.entries(fields), ...every.slice(0, 22), ...every.slice(0, 22)];
          statuses.push(await send(path, FORM['Content-Type'], new URLSearchParams(twice).toString().slice(0, 60_000)));
        }
        statuses.push(await send(path.replace(NAMED, '%00'), FORM['Content-Type'], query));
        statuses.push(await send(path.replace(NAMED, '%ff'), FORM['Content-Type'], query));
        failed.push(...statuses.filter((status) => status >= 500).map((status) => `${path} ${status}`));
      }
      expect([...new Set(failed)]).toEqual([]);
      jest.restoreAllMocks();
    }, 120_000);
  });

  describe('a body', () => {
    /** Sends the first bytes of a long form. Returns what comes before the connection is closed. */
    const sendPart = async (
      path: string,
      browser: ConsoleBrowser,
      type = 'application/x-www-form-urlencoded',
    ): Promise<string> => {
      const { hostname, port, host } = new URL(console.origin);
      const socket = connect(Number(port), hostname);
      let said = '';
      socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const cookie = `Cookie: ${browser.cookieHeader}\r\n`;
      const form = `Content-Type: ${type}\r\nContent-Length: 200000\r\n`;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${cookie}${form}\r\ncsrf=`);
      try {
        await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
      } finally {
        socket.destroy();
      }
      return said;
    };

    it('is not awaited for a request that nobody signed in for, and the connection is closed', async () => {
      const [nobody, stranger] = [console.browser(), console.browser()];
      stranger.cookies['console_session'] = `${ours.id}.${'x'.repeat(43)}`;

      const refused = [await sendPart('/people', nobody), await sendPart('/imports', stranger)];
      const elsewhere = await sendPart('/nowhere', nobody);

      for (const said of refused) expect(said).toMatch(/^HTTP\/1.1 303 [^]*\r\nConnection: close\r\n/);
      expect(elsewhere).toMatch(/^HTTP\/1.1 404 [^]*\r\nConnection: close\r\n/);
    });

    it('with a file that still comes gets a refusal that leads to the sign-in', async () => {
      const said = await sendPart('/imports', console.browser(), 'multipart/form-data; boundary=b');

      expect(said).toMatch(/^HTTP\/1.1 401 [^]*\r\nRefresh: 0; url=\/sign-in\r\n[^]*\r\nConnection: close\r\n/);
    });

    it('is not awaited for what the role may not do', async () => {
      expect(await sendPart('/people', viewer)).toMatch(/^HTTP\/1.1 403 [^]*\r\nConnection: close\r\n/);
    });

    it('does nothing for a person who lost the right before its last bytes came', async () => {
      const admin = await console.signIn(ours.slug, 'admin');
      const ways: [string, (leaver: typeof viewer) => Promise<unknown>, number, string | null][] = [
        ['removed', ({ personId: id }) => admin.submit('/people', `/people/${id}/remove`), 303, '/sign-in'],
        ['demoted', ({ personId: id }) => admin.submit('/people', `/people/${id}/role`), 403, null],
        ['signed out', (leaver) => leaver.submit('/', '/sign-out'), 303, '/sign-in'],
      ];
      for (const [name, lose, status, location] of ways) {
        const leaver = await console.signIn(ours.slug, 'admin');
        const added = { name, email: `${name.replace(' ', '-')}@example.com`, role: 'admin' };
        const form = new URLSearchParams({ ...(await leaver.get('/')).fields('/sign-out'), ...added }).toString();
        const find = jest.spyOn(console.app.get(Sessions), 'find');
        const sending = request(`${console.origin}/people`, {
          method: 'POST',
          headers: {
            ...{ Cookie: leaver.cookieHeader, Origin: console.origin },
            ...{ 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': form.length },
          },
        });
        sending.write(form.slice(0, -5));
        await until(() => find.mock.results.length > 0);
        await find.mock.results[0]?.value;
        find.mockRestore();
        await lose(leaver);

        sending.end(form.slice(-5));
        const [response] = (await once(sending, 'response')) as [IncomingMessage];

        response.resume();
        expect([name, response.statusCode, response.headers.location ?? null]).toEqual([name, status, location]);
        expect((await admin.get('/people')).text).not.toContain(added.email);
      }
    });

    it('leaves the connection open when it was read', async () => {
      const { headers } = await viewer.post('/workspaces', (await viewer.get('/workspaces')).fields());

      expect(headers.get('connection')).toBe('keep-alive');
    });

    it('of somebody who is signed in may take half an hour, and headers a minute', () => {
      const { requestTimeout, headersTimeout } = console.app.getHttpServer() as Server;

      expect([requestTimeout, headersTimeout]).toEqual([1_800_000, 60_000]);
    });

    it('for a link is short', async () => {
      const link = `/sign-in/link/${ours.id}.${'x'.repeat(43)}`;

      expect((await console.browser().post(link, { csrf: 'x'.repeat(5_000) })).status).toBe(413);
    });
  });

  it('signs nobody in by a cookie or link in capitals, whose workspace id the audit does not have', async () => {
    const [id = '', secret = ''] = (viewer.cookies['console_session'] ?? '').split('.');
    const loud = console.browser();
    loud.cookies['console_session'] = `${id.toUpperCase()}.${secret}`;
    const person = ['--workspace', ours.slug, '--email', 'loud@example.com'];
    await console.admin('people', 'add', ...person, '--name', 'X', '--role', 'viewer');
    const link = (await console.linkOf(ours.slug, 'loud@example.com')).replace(id, id.toUpperCase());

    const used = await console.browser().post(link, (await console.browser().get(link)).fields());

    expect([(await loud.get('/')).status, used.status]).toEqual([303, 403]);
  });

  it('lead nowhere else, whatever the address', async () => {
    const admin = await console.signIn(ours.slug, 'admin');
    const paths = [
      ...['//evil.example/', '//evil.example/inventory?name=', '/%2e%2e/people', '/inventory/..%2f..%2fpeople'],
      ...['/INVENTORY', '/inventory/', '/inventory?name=&next=//evil.example', '/inventory/%', '/inventory/%ff'],
      ...['/computers?name=&', '/audit?since=&clientId=//evil.example', '/sign-in?next=https://evil.example'],
      ...[
        '/inventory?name[]=x',
        '/inventory?__proto__=x',
        '/inventory?pageCursor=x',
        '/inventory?name=%00',
        '/audit?since=x',
      ],
      ...['/sign-in/link/%2e%2e', '/sign-in/link/%00', '/console.js/../people', '/imports/uploads/..%2f..%2fetc'],
    ];

    for (const path of paths) {
      const { status, headers } = await admin.get(path);
      const location = headers.get('location') ?? '/';
      expect([path, status < 500, location.startsWith('/') && !location.startsWith('//')]).toEqual([path, true, true]);
    }
  });

  describe('at the door', () => {
    it('has the same headers when it is refused, and names no software', async () => {
      const signedIn = await console.signIn(ours.slug, 'viewer');
      const foreign = { Origin: 'https://evil.example' };
      const pages = [
        ...[await signedIn.get('/nowhere'), await signedIn.get('/people'), await signedIn.post('/sign-out', {})],
        ...[await signedIn.post('/sign-out', {}, foreign), await console.browser().get('/')],
        ...[await signedIn.get('/console.css'), await signedIn.get('/console.js')],
      ];

      for (const { headers } of pages) {
        expect(headers.get('content-security-policy')).toContain("default-src 'none'");
        expect([headers.get('cache-control'), headers.get('x-powered-by'), headers.get('server')]).toEqual([
          ...['no-store', null, null],
        ]);
      }
    });

    it('takes no more connections than an instance of the API', () => {
      expect((console.app.getHttpServer() as Server).maxConnections).toBe(5_000);
    });

    it('keeps an idle connection open for longer than a proxy does', async () => {
      expect((await console.browser().get('/sign-in')).headers.get('keep-alive')).toBe('timeout=70');
    });

    it('on https is for https only, with cookies that no other host can set', async () => {
      const port = await freePort();
      const origin = 'https://console.example.com';
      const secure = await startConsole({ CONSOLE_PORT: String(port), CONSOLE_URL: origin }, console.database);
      const send = (path: string, headers: Record<string, string>, form?: string) =>
        new Promise<IncomingMessage & { page: string }>((resolve, reject) => {
          const asked = { port, path, method: form === undefined ? 'GET' : 'POST' };
          const sent = request({ ...asked, headers: { Host: 'console.example.com', ...headers } }, (response) => {
            void text(response).then((page) => resolve(Object.assign(response, { page })), reject);
          });
          sent.on('error', reject).end(form);
        });
      try {
        const person = ['--workspace', ours.slug, '--email', 'secure@example.com'];
        await secure.admin('people', 'add', ...person, '--name', 'X', '--role', 'viewer');
        const { url } = await secure.admin('console', 'link', ...person);
        const link = (url as string).slice(origin.length);
        const { headers, page } = await send(link, {});
        const form = `csrf=${/name="csrf" value="([^"]*)"/.exec(page)?.[1] ?? ''}`;
        const type = { 'Content-Type': 'application/x-www-form-urlencoded' };

        const signedIn = await send(link, { ...type, Origin: origin }, form);
        const [cookie = ''] = signedIn.headers['set-cookie'] ?? [];
        const [, value = ''] = /=([^;]*)/.exec(cookie) ?? [];
        const [plain, own] = [
          await send('/', { Cookie: `console_session=${value}` }),
          await send('/', { Cookie: `__Host-console_session=${value}` }),
        ];

        expect(headers['strict-transport-security']).toBe('max-age=31536000');
        expect(cookie).toMatch(/^__Host-console_session=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
        expect([plain.statusCode, own.statusCode]).toEqual([303, 200]);

        const hidden = /name="csrf" value="([^"]*)"><input type="hidden" name="workspace" value="([^"]*)"/.exec(
          own.page,
        );
        const out = `csrf=${hidden?.[1] ?? ''}&workspace=${hidden?.[2] ?? ''}`;
        const session = { ...type, Origin: origin, Cookie: `__Host-console_session=${value}` };
        const { headers: cleared } = await send('/sign-out', session, out);
        expect(cleared['set-cookie']).toEqual([
          expect.stringMatching(/^__Host-console_session=; Path=\/; Expires=Thu, 01 Jan 1970 .*; HttpOnly; Secure/),
        ]);
      } finally {
        await secure.stop();
      }
    });

    /** Sends requests and one for a page behind them. Returns what comes before the connection is closed. */
    const sendBefore = async (headers: string, body: string, method = 'POST', times = 1): Promise<string> => {
      const { hostname, port, host } = new URL(console.origin);
      const socket = connect(Number(port), hostname);
      let said = '';
      socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
      socket.on('error', () => undefined);
      const sent = `${method} ${method === 'GET' ? '/nowhere' : '/sign-out'} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n${body}`;
      socket.write(`${sent.repeat(times)}GET /sign-in HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await once(socket, 'close');
      return said;
    };

    it('serves a few requests that come at once, and no connection that sends many', async () => {
      const [few, many] = [await sendBefore('', '', 'GET', 15), await sendBefore('', '', 'GET', 5_000)];

      expect(few.split('HTTP/1.1 404 ')).toHaveLength(16);
      expect(few).toContain('<h1>Sign in</h1>');
      expect(many.split('HTTP/1.1 404 ').length).toBeLessThanOrEqual(17);
    });

    it.each([
      ['two lengths', 'Content-Length: 5\r\nContent-Length: 5\r\n', '0\r\n\r\n'],
      ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
      ['an unknown encoding', 'Transfer-Encoding: x\r\n', '0\r\n\r\n'],
      ['a folded header', 'X-A: b\r\n c\r\n', ''],
    ])('reads no request with %s, and none after it', async (_, headers, body) => {
      const said = await sendBefore(headers, body);

      expect(said).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(said).not.toContain('<h1>Sign in</h1>');
    });

    it.each([
      ['a length', 'Content-Length: 5\r\n', '0\r\n\r\n'],
      ['neither', 'X-A: b\r\n', ''],
      ['an expectation that nobody knows', 'Expect: x\r\n', ''],
    ])('reads one with %s', async (_, headers, body) => {
      expect(await sendBefore(headers, body)).toMatch(/^HTTP\/1\.1 303 /);
    });

    it('reads no chunk, each of which costs however short it is, and no request after it', async () => {
      const said = await sendBefore('Transfer-Encoding: chunked\r\n', '1\r\na\r\n'.repeat(10_000) + '0\r\n\r\n');

      expect(said).toMatch(/^HTTP\/1\.1 411 [^]*\r\nConnection: close\r\n/);
      expect(said.split('HTTP/1.1 ')).toHaveLength(2);
    });

    it.each([
      ['with an expectation', '/nowhere', 'Expect: x\r\n'],
      ['for a target that no URL can be', 'http://[/nowhere', ''],
    ])('logs a request %s, and serves few of them that come at once', async (_, target, headers) => {
      const { hostname, port, host } = new URL(console.origin);
      const socket = connect(Number(port), hostname);
      let said = '';
      socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
      socket.on('error', () => undefined);
      const logged = console.logLines.length;

      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`.repeat(5_000));
      await once(socket, 'close');

      const served = said.split('HTTP/1.1 404 ').length - 1;
      expect([served > 0, served <= 16]).toEqual([true, true]);
      expect(console.logLines.length).toBeGreaterThan(logged);
    });

    it('reads no request with more than 200 headers, and none after it', async () => {
      const [few, many] = [
        await sendBefore('a:b\r\n'.repeat(199), '', 'GET'),
        await sendBefore('a:b\r\n'.repeat(200), '', 'GET'),
      ];

      expect(few).toContain('<h1>Sign in</h1>');
      expect(many).toMatch(/^HTTP\/1\.1 431 [^]*\r\nConnection: close\r\n/);
      expect(many.split('HTTP/1.1 ')).toHaveLength(2);
    });

    it.each(['GET', 'POST'])('serves no %s with two hosts', async (method) => {
      expect(await sendBefore('Host: evil.example\r\n', '', method)).toMatch(/^HTTP\/1\.1 400 /);
    });
  });
});
