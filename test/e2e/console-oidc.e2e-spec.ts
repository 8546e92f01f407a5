import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Metrics } from '#libs/platform/observability';
import { runAdminOn } from '../support/admin-command';
import { freePort } from '../support/free-port';
import { type ConsoleBrowser, type TestConsole, startConsole } from '../support/console-setting';

describe('Sign-in by OpenID Connect', () => {
  let console: TestConsole;
  let provider: ChildProcess;
  let issuer: string;
  let ours: { id: string; slug: string };
  let secretFile: string;

  beforeAll(async () => {
    const [port, consolePort] = [await freePort(), await freePort()];
    issuer = `http://127.0.0.1:${port}`;
    const callback = `http://127.0.0.1:${consolePort}/sign-in/callback`;
    provider = spawn(process.execPath, [join(__dirname, '../support/oidc-provider.mjs'), String(port), callback], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await once(provider.stdout as NodeJS.ReadableStream, 'data');
    secretFile = join(mkdtempSync(join(tmpdir(), 'oidc-')), 'secret');
    writeFileSync(secretFile, 'console-secret\n');
    console = await startConsole({
      CONSOLE_PORT: String(consolePort),
      CONSOLE_OIDC_ISSUER: issuer,
      CONSOLE_OIDC_CLIENT_ID: 'console',
      CONSOLE_OIDC_SECRET_FILE: secretFile,
    });
    ours = await console.aWorkspace('Ours');
  });
  afterAll(async () => {
    await console.stop();
    provider.kill();
  });

  const add = (email: string, slug = ours.slug, role = 'viewer', ...more: string[]) =>
    console.admin('people', 'add', '--workspace', slug, '--email', email, '--name', email, '--role', role, ...more);

  const tell = async (line: string): Promise<void> => {
    const told = once(provider.stdout as NodeJS.ReadableStream, 'data');
    provider.stdin?.write(`${line}\n`);
    await told;
  };
  /** Goes through the issuer's pages, as a browser does, up to the address of the console. */
  const comeBack = async (start: string, login: string): Promise<string> => {
    await tell(login);
    const jar = new Map<string, string>();
    let url = start;
    let form: URLSearchParams | null = null;
    for (let steps = 0; steps < 12; steps += 1) {
      const response: Response = await fetch(url, {
        redirect: 'manual',
        headers: { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(form ? { method: 'POST', body: form } : {}),
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        jar.set(name, value);
      }
      const location = response.headers.get('location');
      form = null;
      if (location) url = new URL(location, url).href;
      else {
        const text = await response.text();
        const action = /action="([^"]+)"/.exec(text)?.[1];
        if (!action) throw new Error(`${response.status} ${text}`);
        url = new URL(action, url).href;
        const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? '';
        form = new URLSearchParams({ prompt, login: login.split('|')[0] ?? '', password: 'x' });
      }
      if (url.startsWith(console.origin)) return url.slice(console.origin.length);
    }
    throw new Error('The issuer goes round in circles.');
  };
  /** Begins a sign-in. Returns the address of the console to which the issuer leads. */
  const setOut = async (browser: ConsoleBrowser, login: string): Promise<string> => {
    const start = await browser.get('/sign-in/start');
    expect(start.status).toBe(303);
    return comeBack(start.headers.get('location') ?? '', login);
  };
  const signIn = async (login: string, browser = console.browser()) => {
    return { browser, last: await browser.get(await setOut(browser, login)) };
  };

  it('offers the issuer, and asks it with PKCE, state and nonce', async () => {
    const browser = console.browser();
    const page = await browser.get('/sign-in');

    const start = await browser.get('/sign-in/start');

    expect(page.text).toContain('href="/sign-in/start"');
    const asked = new URL(start.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ response_type: 'code', code_challenge_method: 'S256', redirect_uri: `${console.origin}/sign-in/callback` },
      ...{ state: expect.any(String) as string, nonce: expect.any(String) as string },
    });
    expect(start.headers.getSetCookie()[0]).toMatch(/^console_sign_in=.*Max-Age=600;.*HttpOnly; SameSite=Lax$/);
  });

  it('lets a person with a verified address in, and binds the account', async () => {
    await add('ada@example.com');

    const { browser, last } = await signIn('ada|ada@example.com|true');

    expect([last.status, last.headers.get('location')]).toEqual([303, '/']);
    expect((await browser.get('/')).status).toBe(200);
  });

  it('takes up a secret that was replaced, without a restart', async () => {
    await add('grace@example.com');
    writeFileSync(secretFile, 'an older secret\n');
    const refused = await signIn('grace|grace@example.com|true');
    writeFileSync(secretFile, 'console-secret\n');

    const { last } = await signIn('grace|grace@example.com|true');

    expect(refused.last.headers.get('location')).not.toBe('/');
    expect([last.status, last.headers.get('location')]).toEqual([303, '/']);
  });

  it('takes a secret that cannot be read any more for no fault of the person, and logs it', async () => {
    await add('unread@example.com');
    const told = jest.spyOn(Logger.prototype, 'error');
    rmSync(secretFile);

    const statuses = [];
    for (let attempt = 0; attempt < 22; attempt += 1) {
      statuses.push((await signIn('unread|unread@example.com|true')).last.status);
    }
    writeFileSync(secretFile, 'console-secret\n');

    expect(statuses).toEqual(statuses.map(() => 500));
    expect(told).toHaveBeenLastCalledWith(
      expect.objectContaining({
        message: 'request failed',
        error: expect.objectContaining({ code: 'ENOENT' }) as Error,
      }),
    );
    told.mockRestore();
    expect((await signIn('unread|unread@example.com|true')).last.status).toBe(303);
  });

  it.each([
    ['is empty', '\n'],
    ['the issuer does not take', 'an older secret\n'],
  ])('takes a secret that %s for no fault of the person', async (_, secret) => {
    await add('wrong@example.com').catch(() => undefined);
    writeFileSync(secretFile, secret);

    const statuses = [];
    for (let attempt = 0; attempt < 22; attempt += 1) {
      statuses.push((await signIn('wrong|wrong@example.com|true')).last.status);
    }
    writeFileSync(secretFile, 'console-secret\n');

    expect(statuses).toEqual(statuses.map(() => 500));
    expect((await signIn('wrong|wrong@example.com|true')).last.status).toBe(303);
  });

  it('opens nothing for another account with the address, and still the account with another address', async () => {
    await add('moved@example.com');
    await signIn('first|moved@example.com|true');

    const reassigned = await signIn('second|moved@example.com|true');
    const renamed = await signIn('first|new-name@example.com|true');

    expect([reassigned.last.status, renamed.last.status]).toEqual([403, 303]);
    expect((await reassigned.browser.get('/')).status).toBe(303);
  });

  it.each([
    ['an address that is not verified', 'eve|eve@example.com|false'],
    ['no address', 'eve'],
    ['an address that nobody added', 'mallory|mallory@example.com|true'],
  ])('refuses %s, in the same words', async (_, login) => {
    if (login.startsWith('eve|')) await add('eve@example.com');

    const { last } = await signIn(login);

    expect(last.status).toBe(403);
    expect(last.text).toContain('Ask an administrator of your workspace for access.');
  });

  it('lets a person in who was added with a subject, whatever the address', async () => {
    await add('entra@example.com', ours.slug, 'viewer', '--subject', 'sub-1');

    expect((await signIn('sub-1')).last.status).toBe(303);
    expect((await signIn('sub-2|entra@example.com|true')).last.status).toBe(403);
  });

  it('lets a person in whose subject was added where the setting writes the issuer in another way', async () => {
    const person = ['--workspace', ours.slug, '--email', 'respelt@example.com', '--name', 'X', '--role', 'viewer'];
    const added = await runAdminOn(console.database, ['people', 'add', ...person, '--subject', 'respelt'], {
      ...{ CONSOLE_OIDC_ISSUER: `${issuer.replace('http', 'HTTP')}/`, CONSOLE_OIDC_CLIENT_ID: 'console' },
      CONSOLE_OIDC_SECRET_FILE: secretFile,
    });

    expect([added.exitCode, (await signIn('respelt')).last.status]).toEqual([0, 303]);
  });

  it('shows a stranger the subject of the own account, by which an administrator adds it', async () => {
    const { last } = await signIn('<sub&3');

    expect(last.status).toBe(403);
    expect(last.text).toContain('The subject of your account is &lt;sub&amp;3');
  });

  it('adds a closed person again under another address, by the subject', async () => {
    await add('typo@example.com', ours.slug, 'viewer', '--subject', 'sub-late');
    await expect(add('right@example.com', ours.slug, 'viewer', '--subject', 'sub-late')).rejects.toThrow(
      'there already',
    );
    await console.database.admin.query(
      `UPDATE person SET added_at = added_at - interval '15 days' WHERE email = 'typo@example.com'`,
    );

    const again = await add('right@example.com', ours.slug, 'viewer', '--subject', 'sub-late');

    expect(again).toMatchObject({ email: 'right@example.com', state: 'open' });
    expect((await signIn('sub-late')).last.status).toBe(303);
  });

  it('adds nobody by a subject that no account has', async () => {
    await add('boss@example.com', ours.slug, 'admin');
    const { browser } = await signIn('boss|boss@example.com|true');

    for (const subject of ['oid 1', 'oïd']) {
      const fields = { name: 'X', email: 'x@example.com', role: 'viewer', subject };
      const { status, text } = await browser.submit('/people', '/people', fields);
      expect([status, text.includes('id="subject-error"')]).toEqual([400, true]);
    }
  });

  it('opens nothing for the same subject of another issuer, and no workspace by a switch', async () => {
    const former = await console.aWorkspace('Former');
    await add('twin@example.com', former.slug, 'admin', '--subject', 'twin');
    await console.database.admin.query(`UPDATE person SET issuer = 'https://former.example' WHERE subject = 'twin'`);

    const refused = await signIn('twin|twin@example.com|true');
    await add('twin@example.com', ours.slug, 'viewer', '--subject', 'twin');
    const { browser, last } = await signIn('twin|twin@example.com|true');

    expect([refused.last.status, last.status]).toEqual([403, 303]);
    expect((await browser.get('/workspaces')).text).not.toContain('Former');
    const switched = await browser.submit('/workspaces', '/workspaces', { to: former.id });
    expect(switched.status).toBe(404);
  });

  it.each(['iss', 'nonce'])('takes no id token with another %s', async (claim) => {
    const login = `${claim}|${claim}@example.com|true`;
    await add(`${claim}@example.com`);
    await tell(`!${claim}`);
    try {
      expect((await signIn(login)).last.status).toBe(403);
    } finally {
      await tell('!serve');
    }
    expect((await signIn(login)).last.status).toBe(303);
  });

  it('tells addresses apart that look alike, and takes A to Z in either case', async () => {
    // The sign of the kelvin, whose small letter is k.
    const alike = '\u212Aay@example.com';
    await add('kay@example.com');

    const foreign = await signIn(`kelvin|${alike}|true`);
    await add(alike);
    const own = await signIn(`kelvin|${alike}|true`);
    const spelt = await signIn('kay|KAY@Example.com|true');

    expect([foreign.last.status, own.last.status, spelt.last.status]).toEqual([403, 303, 303]);
    await expect(add('Kay@example.com')).rejects.toThrow('there already');
  });

  it('opens each workspace of the person, who chooses among them', async () => {
    const theirs = await console.aWorkspace('Theirs');
    await add('both@example.com');
    await add('both@example.com', theirs.slug, 'admin');

    const { browser, last } = await signIn('both|both@example.com|true');

    expect(last.headers.get('location')).toBe('/workspaces');
    const page = await browser.get('/workspaces');
    const offered = [...page.text.matchAll(/(Stay in|Switch to) (\w+)</g)].map(([, what, name]) => ({ what, name }));
    expect(offered.map(({ what }) => what).sort()).toEqual(['Stay in', 'Switch to']);
    expect(offered.map(({ name }) => name).sort()).toEqual(['Ours', 'Theirs']);
    const current = offered.find(({ what }) => what === 'Stay in')?.name;
    const to = current === 'Ours' ? ours.id : theirs.id;
    const stayed = await browser.post('/workspaces', { ...page.fields('/workspaces'), to });
    expect([stayed.status, stayed.headers.get('location')]).toEqual([303, '/']);
  });

  it('leaves an event in each workspace that shows it', async () => {
    const theirs = await console.aWorkspace('Theirs');
    const people = [await add('seen@example.com'), await add('seen@example.com', theirs.slug)];

    const { last } = await signIn('seen|seen@example.com|true');

    const { rows } = await console.database.admin.query(
      `SELECT id, signed_in_at IS NOT NULL AS shown, ARRAY (SELECT request_id FROM audit_event
               WHERE action = 'person.signed_in' AND actor_name = person.id::text AND target_id = actor_name) AS requests
         FROM person WHERE email = 'seen@example.com' ORDER BY added_at`,
    );
    expect(rows).toEqual(people.map(({ id }) => ({ id, shown: true, requests: [last.headers.get('x-request-id')] })));
  });

  it.each(['audit_event', 'console_session'])('binds nobody where the sign-in finds no place in %s', async (table) => {
    const { id } = await add(`${table}@example.com`);

    await console.database.admin.query(`ALTER TABLE ${table} ADD CONSTRAINT no_more CHECK (false) NOT VALID`);
    const { last } = await signIn(`${table}|${table}@example.com|true`);
    await console.database.admin.query(`ALTER TABLE ${table} DROP CONSTRAINT no_more`);

    const { rows } = await console.database.admin.query('SELECT issuer, signed_in_at FROM person WHERE id = $1', [id]);
    expect([last.status, last.headers.getSetCookie()]).toEqual([500, [expect.stringContaining('console_sign_in=;')]]);
    expect(rows).toEqual([{ issuer: null, signed_in_at: null }]);
  });

  it('takes no callback that it did not begin, and none twice', async () => {
    await add('replay@example.com');
    const browser = console.browser();
    const callback = await setOut(browser, 'replay|replay@example.com|true');
    const kept = { ...browser.cookies };

    const foreign = await console.browser().get(callback);
    // The code is still good.
    const otherState = await browser.get(callback.replace(/state=[^&]+/, 'state=x'));
    browser.cookies = { ...kept };
    const first = await browser.get(callback);
    expect(browser.cookies).not.toHaveProperty('console_sign_in');
    browser.cookies = kept;
    const again = await browser.get(callback);

    expect([foreign, otherState, first, again].map(({ status }) => status)).toEqual([403, 403, 303, 403]);
  });

  it('refuses, as any other, a callback that is sent twice at once', async () => {
    const browser = console.browser();
    const callback = await setOut(browser, 'twice|twice@example.com|true');

    const sent = await Promise.all([browser.get(callback), browser.get(callback)]);

    expect(sent.map(({ status }) => status)).toEqual([403, 403]);
  });

  it('lets the later one of two sign-ins of a browser in, though the earlier one comes back first', async () => {
    await add('tabs@example.com');
    const browser = console.browser();
    const login = 'tabs|tabs@example.com|true';
    const [earlier, later] = [await setOut(browser, login), await setOut(browser, login)];

    const came = [await browser.get(earlier), await browser.get(later)];

    expect(came.map(({ status }) => status)).toEqual([403, 303]);
  });

  it('refuses an address after 20 callbacks that fail, though each has a sign-in that was begun', async () => {
    const limited = await startConsole(
      { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: 'console', CONSOLE_OIDC_SECRET_FILE: secretFile },
      console.database,
    );
    try {
      const browser = limited.browser();
      await browser.get('/sign-in/start');
      const [state] = browser.cookieHeader.split(/[=.]/).slice(1);
      const start = performance.now();
      // All are sent before a response clears the cookie.
      const asked = Array.from({ length: 40 }, () => browser.get(`/sign-in/callback?state=${state}&code=x`));
      const sent = await Promise.all(asked);
      const most = 20 + Math.ceil((performance.now() - start) / 3_000);

      const tried = sent.filter(({ status }) => status === 403).length;
      expect([tried >= 20, tried <= most]).toEqual([true, true]);
      expect(sent.filter(({ status }) => status === 429)).toHaveLength(40 - tried);
      expect(await limited.app.get(Metrics).expose()).toContain(`_sign_ins_total{outcome="limited"} ${40 - tried}\n`);
    } finally {
      await limited.stop();
    }
  });

  it('counts no failure of a browser that began no such sign-in, as where a page of another site sends it', async () => {
    await add('office@example.com');
    const told = jest.spyOn(Logger.prototype, 'warn');
    const another = console.browser();
    await another.get('/sign-in/start');
    const browsers = Array.from({ length: 60 }, (_, n) => (n % 2 > 0 ? another : console.browser()));
    const sent = await Promise.all(browsers.map((one) => one.get('/sign-in/callback?state=x&code=x')));

    const { last } = await signIn('office|office@example.com|true');

    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 403));
    const refusal = { message: 'sign-in refused', reason: 'the browser began no such sign-in' };
    expect(told.mock.calls).toMatchObject(sent.map(() => [refusal]));
    told.mockRestore();
    expect(last.status).toBe(303);
  });

  it('refuses a person who was removed, and one who did not come within 14 days', async () => {
    const { id } = await add('gone@example.com');
    await add('late@example.com');
    await console.admin('people', 'remove', '--workspace', ours.slug, id as string);
    await console.database.admin.query(
      `UPDATE person SET added_at = added_at - interval '15 days' WHERE email = 'late@example.com'`,
    );

    expect((await signIn('gone|gone@example.com|true')).last.status).toBe(403);
    expect((await signIn('late|late@example.com|true')).last.status).toBe(403);
  });

  it('makes no links any more', async () => {
    await expect(console.admin('console', 'link')).rejects.toThrow();
    expect((await console.browser().get(`/sign-in/link/${'x'.repeat(64)}`)).status).toBe(404);
  });

  it.each([
    ['cuts connections', 'cut'],
    ['has a fault', 'fault'],
  ] as const)('says so when the token endpoint of the issuer %s, and counts no failure', async (_, what) => {
    const browser = console.browser();
    const callback = await setOut(browser, `${what}|${what}@example.com|true`);
    const kept = { ...browser.cookies };

    await tell(`!${what}`);
    try {
      for (let attempt = 0; attempt < 25; attempt += 1) {
        browser.cookies = { ...kept };
        const { status, text } = await browser.get(callback);
        expect([status, text.includes('does not respond')]).toEqual([503, true]);
      }
    } finally {
      await tell('!serve');
    }
  });

  it.each([
    ['does not exist', ['absent'], 'cannot be read (ENOENT)'],
    ['is a directory, as Docker mounts one for a file that is absent', [], 'cannot be read (EISDIR)'],
    ['is empty', ['empty'], 'is empty'],
  ])('does not start when the file of the secret %s', async (_what, name, fault) => {
    const folder = mkdtempSync(join(tmpdir(), 'oidc-'));
    writeFileSync(join(folder, 'empty'), '\n');
    const secretFile = join(folder, ...name);
    const started = startConsole(
      { CONSOLE_OIDC_ISSUER: issuer, CONSOLE_OIDC_CLIENT_ID: 'console', CONSOLE_OIDC_SECRET_FILE: secretFile },
      console.database,
    );
    await expect(started).rejects.toThrow(`CONSOLE_OIDC_SECRET_FILE names ${secretFile}, which ${fault}`);
  });

  it('says so when the issuer is away', async () => {
    const lonely = await startConsole(
      {
        ...{ CONSOLE_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`, CONSOLE_OIDC_CLIENT_ID: 'console' },
        CONSOLE_OIDC_SECRET_FILE: join(process.env['TEST_LOCAL_DIR'] ?? '', 'keys/pepper'),
      },
      console.database,
    );
    try {
      const { status, text } = await lonely.browser().get('/sign-in/start');
      expect([status, text.includes('does not respond')]).toEqual([503, true]);
      const [error] = lonely.logLines.flatMap(({ error }) => error ?? []);
      expect(error).toMatchObject({
        name: 'ServiceUnavailableException',
        cause: { message: 'fetch failed', cause: expect.anything() as unknown },
      });
    } finally {
      await lonely.stop();
    }
  });
});
