import { randomBytes } from 'node:crypto';
import { type ConsoleBrowser, type TestConsole, startConsole } from '../support/console-setting';

describe('A bookmark that is opened without a session', () => {
  let console: TestConsole;
  let ours: { id: string; slug: string };
  beforeAll(async () => {
    console = await startConsole();
    ours = await console.aWorkspace('Ours');
  });
  afterAll(() => console.stop());

  /** Signs somebody in by a link. Returns where it leads. */
  const signIn = async (browser: ConsoleBrowser, email = `${randomBytes(4).toString('hex')}@example.com`) => {
    const person = ['--workspace', ours.slug, '--email', email];
    await console.admin('people', 'add', ...person, '--name', 'X', '--role', 'viewer');
    const path = await console.linkOf(ours.slug, email);
    const { status, headers } = await browser.post(path, (await browser.get(path)).fields());
    expect(status).toBe(303);
    return headers.get('location');
  };

  it.each([
    '/inventory?hasOwner=false&name=%C3%A4+b%2Fc',
    '/computers/00000000-0000-4000-8000-000000000000',
    '/audit?since=2026-01-01T00:00:00Z',
  ])('is where the sign-in leads, once: %s', async (page) => {
    const browser = console.browser();

    const opened = await browser.get(page);
    const led = await signIn(browser);

    expect([opened.status, opened.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(opened.headers.getSetCookie()[0]).toMatch(/^console_page=.*Max-Age=600;.*HttpOnly; SameSite=Lax$/);
    expect(led).toBe(page);
    expect(Object.keys(browser.cookies)).toEqual(['console_session']);
    expect(await signIn(browser)).toBe('/');
  });

  it('is where the choice of a workspace leads', async () => {
    const theirs = await console.aWorkspace('Theirs');
    const email = `${ours.slug}@example.com`;
    const person = ['--email', email, '--name', 'X', '--role', 'viewer'];
    await console.admin('people', 'add', '--workspace', theirs.slug, ...person);
    const browser = console.browser();
    await signIn(browser, email);
    browser.cookies['console_page'] = '/audit';

    const { headers } = await browser.submit('/workspaces', '/workspaces', { to: theirs.id });

    expect([headers.get('location'), browser.cookies['console_page']]).toEqual(['/audit', undefined]);
  });

  it('is the overview for a file, a form and an address that is too long', async () => {
    const browser = console.browser();

    const long = `/audit?x=${'x'.repeat(1_001)}`;
    for (const path of ['/', '/inventory/download', '/audit/download?action=x', long]) await browser.get(path);
    await browser.post('/people', { name: 'x' });

    expect([{ ...browser.cookies }, await signIn(browser)]).toEqual([{}, '/']);
  });

  it.each(['//evil.example/', '/\\evil.example', 'https://evil.example', '/inventory/..//evil', '/%2F/evil', '/@evil'])(
    'is the overview where somebody else set the cookie: %s',
    async (planted) => {
      const browser = console.browser();
      browser.cookies['console_page'] = planted;

      expect(await signIn(browser)).toBe('/');
    },
  );
});
