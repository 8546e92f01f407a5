import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { POSTURES } from '../../libs/computers/src/domain/posture';
import { FACETS } from '../../libs/inventory/src/assets/domain/asset-filter';
import { arrangeEveryResource } from '../contract/every-resource';
import { type TestConsole, startConsole, startConsoleWithApi } from '../support/console-setting';
import { freePort } from '../support/free-port';
import { Sealing } from '../support/sealing';
import type { TestApp } from '../support/start-app';
import { REFUSED, faultsOfAccess, keepScreenshot, startBrowser, widthOverflow } from './explorer';

/** Includes the installation of a missing browser. */
const WITH_INSTALLATION = 5 * 60_000;

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 400, height: 900 };

/** Looks at the page, on a desk in light colours, on a phone at night. Colours do not depend on the width. */
async function look(page: Page, name: string): Promise<void> {
  const { width } = page.viewportSize() ?? {};
  const colorScheme = width === PHONE.width ? 'dark' : 'light';
  await page.emulateMedia({ colorScheme });
  await keepScreenshot(`console-${name}-${width}-${colorScheme}`, page);
  const seen = { faults: await faultsOfAccess(page, ['critical', 'serious']), overflow: await widthOverflow(page) };
  expect({ name, width, ...seen }).toEqual({ name, width, faults: [], overflow: 0 });
}

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

describe('The console in a browser', () => {
  let console: TestConsole;
  let api: TestApp;
  let browser: Browser;
  let slug: string;
  let ids: Readonly<Record<string, string>>;
  let workspaceId: string;
  beforeAll(async () => {
    browser = await startBrowser();
    ({ console, api } = await startConsoleWithApi());
    const workspace = await console.aWorkspace('Acme');
    ({ slug, id: workspaceId } = workspace);
    ({ ids } = await arrangeEveryResource(api, workspace.id));
    // A past with owners who come one by one, and computers that get better.
    await console.database.admin.query(
      `INSERT INTO day_count
       SELECT $1, current_date - n, jsonb_build_array(jsonb_build_array(1, $2::int, 120 - n), jsonb_build_array(1, $3::int, n),
                                                      jsonb_build_array(12, $2::int, 40)),
              jsonb_build_array(jsonb_build_array($4::int, 150 - n), jsonb_build_array($5::int, n / 2))
         FROM generate_series(1, 90) AS n ON CONFLICT DO NOTHING`,
      [
        ...[workspace.id, FACETS.findIndex(({ hasOwner }) => hasOwner), FACETS.findIndex(({ hasOwner }) => !hasOwner)],
        ...['PASSING', 'FAILING'].map((state) =>
          POSTURES.findIndex(({ checks }) => Object.values(checks).every((one) => one === state)),
        ),
      ],
    );
    const person = ['--workspace', slug, '--email', 'ada@example.com'];
    await console.admin('people', 'add', ...person, '--name', 'Ada', '--role', 'admin');
  }, WITH_INSTALLATION);
  afterAll(async () => {
    await browser?.close();
    await console?.stop();
  });

  /** Signs in as a person does: opens the link, and presses the button. */
  const signIn = async (context: BrowserContext, email = 'ada@example.com') => {
    const { url } = await console.admin('console', 'link', '--workspace', slug, '--email', email);
    const page = await context.newPage();
    await page.goto(url as string);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    return page;
  };

  it('fits a desk and a phone in light and dark colours, and axe finds nothing serious', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !REFUSED.test(message.text())) complaints.push(message.text());
    });
    const lookAt = async (name: string, heading: RegExp = /./) => {
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      for (const viewport of [DESK, PHONE]) {
        await page.setViewportSize(viewport);
        await look(page, name);
      }
    };
    const { rows } = await console.database.admin.query<{ id: string }>('SELECT id FROM import_run LIMIT 1');
    const paths = [
      ...['/', '/sign-in', '/inventory', `/inventory/${ids['/v1/inventory/assets']}`, '/computers'],
      ...[`/computers/${ids['/v1/computers']}`, '/imports', '/imports/new', `/imports/${rows[0]?.id}`],
      ...['/people', '/audit', '/workspaces', '/nowhere', '/applications'],
    ];
    const { slug: another } = await console.aWorkspace('Globex');
    const person = ['--workspace', another, '--email', 'ada@example.com'];
    await console.admin('people', 'add', ...person, '--name', 'Ada', '--role', 'viewer');
    const link = await console.linkOf(slug, 'ada@example.com');

    await page.goto(`${console.origin}${link}`);
    await lookAt('link', /^Sign in$/);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await lookAt('signed-in', /^Overview$/);
    for (const path of paths) {
      await page.goto(`${console.origin}${path}`);
      await lookAt(path.slice(1, 15).replaceAll('/', '-'));
    }
    const create = async (name: string) => {
      await page.getByLabel('Name').fill(name);
      await page.getByRole('button', { name: 'Create application' }).click();
    };
    await create('Looked at');
    await page.getByText('This field is required.').waitFor();
    await lookAt('refused-fields');
    await page.getByLabel('Read audit events.').check();
    await create('Looked at');
    await lookAt('created', /^Application created$/);
    await page.getByRole('link', { name: 'To the application' }).click();
    await lookAt('application', /^Looked at$/);
    await page.goto(console.origin);
    await page.getByText('Assets with an owner by day, as a table').click();
    await page.getByRole('region', { name: 'Assets with an owner by day' }).getByRole('row').nth(90).waitFor();
    await page.locator('.charts').first().scrollIntoViewIfNeeded();
    await lookAt('trends');

    const secondPage = await context.newPage();
    await secondPage.goto(`${console.origin}/workspaces`);
    await page.goto(`${console.origin}/workspaces`);
    await secondPage.getByRole('button', { name: 'Switch to Globex' }).click();
    await secondPage.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Switch to Globex' }).click();
    await lookAt('conflict', /^Conflict$/);
    await page.goto(`${console.origin}/people`);
    await lookAt('forbidden', /^Forbidden$/);
    await page.goto(`${console.origin}${link}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await lookAt('used-link', /^Forbidden$/);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('tells which computers have no disk encryption, and whose they are', async () => {
    const { id: ownerId } = await api.arrange.anEmployee(workspaceId, 'Mary Stone', 'mary@example.com');
    const laptop = (name: string, encrypted: boolean) =>
      api.arrange.anAsset(workspaceId, {
        ...{ type: 'COMPUTER', name, ownerId },
        posture: { disk_encryption_enabled: encrypted },
      });
    await Promise.all([laptop('Open laptop', false), laptop('Closed laptop', true)]);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await signIn(context);

    await page.getByRole('navigation').getByRole('link', { name: 'Computers' }).click();
    await page.getByRole('group', { name: 'Failing' }).getByLabel('Disk encryption').check();
    await page.getByRole('button', { name: 'Filter' }).click();

    await page.getByRole('row', { name: /^Open laptop Mary Stone / }).waitFor();
    expect(await page.getByRole('row', { name: 'Closed laptop' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Open laptop' }).click();
    await page.getByText('Mary Stone, mary@example.com').waitFor();
    await context.close();
  });

  it('tells who changed an owner on some day', async () => {
    const { id: ownerId } = await api.arrange.anEmployee(workspaceId, 'Joan Clark', 'joan@example.com');
    const { id } = await api.arrange.anAsset(workspaceId, { name: 'Badge door' });
    const writer = await api.arrange.aClient(workspaceId);
    await writer.patch(`/v1/inventory/assets/${id}`, { ownerId });
    await Sealing.once(api);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await signIn(context);

    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('From (UTC)').fill(dayBefore(1));
    await page.getByLabel('To, with that day (UTC)').fill(dayBefore(0));
    await page.getByLabel('Action').fill('asset.updated');
    await page.getByRole('button', { name: 'Filter' }).click();

    const change = page.getByRole('row').filter({ hasText: 'Badge door' });
    expect(await change.innerText()).toMatch(/ci_\w+\s[^]*owner: Joan Clark/);
    await context.close();
  });

  it.each(['שלום', '\u202EPUBLIC'])('shows an old value before the new one, also %j', async (old) => {
    const { id } = await api.arrange.anAsset(workspaceId);
    const writer = await api.arrange.aClient(workspaceId);
    for (const description of [old, 'עולם']) await writer.patch(`/v1/inventory/assets/${id}`, { description });
    const context = await browser.newContext();
    const page = await signIn(context);

    await page.goto(`${console.origin}/inventory/${id}`);

    const lefts = await page.evaluate(`(() => {
      const [old, fresh] = [document.querySelector('del'), document.createRange()];
      fresh.setStart(old.nextSibling, 3);
      fresh.setEndAfter(old.nextSibling);
      return [old, fresh].map((one) => one.getBoundingClientRect().left);
    })()`);
    expect(lefts).toEqual((lefts as number[]).toSorted((one, other) => one - other));
    await context.close();
  });

  it('fits names, addresses and descriptions without a break', async () => {
    const [word, email] = ['a'.repeat(60), `${'a'.repeat(48)}@example.com`];
    await console.admin('people', 'add', '--workspace', slug, '--email', email, '--name', word, '--role', 'admin');
    const { id: ownerId } = await api.arrange.anEmployee(workspaceId, word, email);
    const long = { type: 'COMPUTER', name: word, description: word.repeat(10), ownerId } as const;
    const { id } = await api.arrange.anAsset(workspaceId, long);

    for (const width of [1280, 400]) {
      const context = await browser.newContext({ viewport: { width, height: 900 } });
      const page = await signIn(context, email);
      for (const path of ['/', '/inventory', `/inventory/${id}`, `/computers/${id}`, '/people']) {
        await page.goto(`${console.origin}${path}`);
        expect([width, path, await widthOverflow(page)]).toEqual([width, path, 0]);
        // On a phone a long name widens no table, whose other lines would be cut.
        const cut =
          "[...document.querySelectorAll('.table:has(.stacked)')].filter((one) => one.scrollWidth > one.clientWidth).length";
        if (width === 400) expect([path, await page.evaluate(cut)]).toEqual([path, 0]);
      }
      await context.close();
    }
  });

  it('removes a person by a second click only, without scripts', async () => {
    const person = ['--email', 'leaver@example.com', '--name', 'Leaver', '--role', 'viewer'];
    await console.admin('people', 'add', '--workspace', slug, ...person);
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false });
    const page = await signIn(context);
    await page.goto(`${console.origin}/people`);
    const row = page.getByRole('row').filter({ hasText: 'leaver@example.com' });

    await row.locator('summary').click();
    const left = [await row.count(), await widthOverflow(page)];
    await keepScreenshot('console-people-remove-400', page);
    await row.getByRole('button', { name: 'Remove now Leaver' }).click();
    await row.waitFor({ state: 'detached' });

    expect([left, new URL(page.url()).pathname]).toEqual([[1, 0], '/people']);
    await context.close();
  });

  it.each([true, false])(
    'shows nothing by the back button after the sign-out (scripts: %s)',
    async (javaScriptEnabled) => {
      const context = await browser.newContext({ javaScriptEnabled });
      const page = await signIn(context);
      await page.goto(`${console.origin}/people`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();

      await page.goBack({ waitUntil: 'commit' });

      expect(new URL(page.url()).pathname).toBe('/sign-in');
      await context.close();
    },
  );

  it('signs a person in by OpenID Connect, whose issuer is another site', async () => {
    const [port, consolePort] = [String(await freePort()), String(await freePort())];
    const callback = `http://127.0.0.1:${consolePort}/sign-in/callback`;
    const program = join(__dirname, '../support/oidc-provider.mjs');
    const provider = spawn(process.execPath, [program, port, callback, 'localhost'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    await once(provider.stdout, 'data');
    const secretFile = join(mkdtempSync(join(tmpdir(), 'oidc-')), 'secret');
    writeFileSync(secretFile, 'console-secret');
    const withIssuer = await startConsole(
      {
        ...{ CONSOLE_PORT: consolePort, CONSOLE_OIDC_ISSUER: `http://localhost:${port}` },
        ...{ CONSOLE_OIDC_CLIENT_ID: 'console', CONSOLE_OIDC_SECRET_FILE: secretFile },
      },
      console.database,
    );
    const context = await browser.newContext();
    try {
      const person = ['--email', 'grace@example.com', '--name', 'Grace', '--role', 'viewer'];
      await console.admin('people', 'add', '--workspace', slug, ...person);
      provider.stdin.write('grace|grace@example.com|true\n');
      await once(provider.stdout, 'data');
      // Its pages ask for a font.
      await context.route(/googleapis/, (route) => route.abort());
      const page = await context.newPage();

      await page.goto(`${withIssuer.origin}/sign-in`);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByPlaceholder('Enter any login').fill('grace');
      await page.getByPlaceholder('and password').fill('x');
      await page.getByRole('button', { name: 'Sign-in' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();

      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      const cookies = (await context.cookies(withIssuer.origin)).filter(({ name }) => name.startsWith('console_'));
      expect(cookies).toEqual([expect.objectContaining({ name: 'console_session', sameSite: 'Lax', httpOnly: true })]);
    } finally {
      await context.close();
      await withIssuer.stop();
      provider.kill();
    }
  });

  it.each([true, false])('makes credentials by the page alone (scripts: %s)', async (javaScriptEnabled) => {
    const context = await browser.newContext({ javaScriptEnabled, permissions: ['clipboard-write'] });
    const page = await signIn(context);

    await page.getByRole('link', { name: 'Applications' }).click();
    await page.getByLabel('Name').fill('SIEM');
    await page.getByLabel('Read audit events.').check();
    await page.getByRole('button', { name: 'Create application' }).click();

    await page.getByRole('heading', { name: 'Application created' }).waitFor();
    const secret = await page.locator('#client-secret').innerText();
    expect(secret).toMatch(/^cs_/);
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(javaScriptEnabled ? 2 : 0);
    if (javaScriptEnabled) {
      await page.getByRole('button', { name: 'Copy client secret' }).click();
      await page.getByRole('button', { name: 'Copied client secret' }).waitFor();
    }
    await page.getByRole('link', { name: 'To the application' }).click();
    await page.getByRole('heading', { name: 'SIEM' }).waitFor();
    // The browser kept no copy of the page with the secret.
    await expect(page.goBack()).rejects.toThrow('ERR_CACHE_MISS');
    await context.close();
  });

  it.each([true, false])('brings in a file by the page alone (scripts: %s)', async (javaScriptEnabled) => {
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled });
    const page = await signIn(context);
    const lookAt = async (name: string) => {
      // axe needs scripts.
      if (!javaScriptEnabled) return;
      for (const [viewport, shown] of [
        [DESK, 'table-cell'],
        [PHONE, 'block'],
      ] as const) {
        await page.setViewportSize(viewport);
        await look(page, name);
        const display = await page.evaluate("getComputedStyle(document.querySelector('td')).display");
        expect([name, display]).toEqual([name, shown]);
      }
    };
    const records = [
      { externalId: 'a', categoryKey: 'CUSTOM', name: 'Badge printer' },
      { externalId: 'b', name: 'x' },
    ];
    const buffer = Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));

    await page.getByRole('link', { name: 'Imports' }).click();
    await page.getByRole('link', { name: 'Import a file' }).click();
    await page.getByRole('textbox', { name: 'Source' }).fill(`office ${javaScriptEnabled}`);
    await page.locator('#file').setInputFiles({ name: 'things.ndjson', mimeType: 'application/x-ndjson', buffer });
    await page.getByRole('button', { name: 'Try the file' }).click();
    // The page asks again by itself until the dry run has ended.
    await page.getByRole('heading', { name: 'Dry run of things.ndjson' }).waitFor();
    await lookAt('upload-tried');
    await page.getByRole('button', { name: 'Import now' }).click();
    await page.getByRole('heading', { name: 'Imported things.ndjson' }).waitFor();
    await lookAt('upload-imported');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download failed records' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('failed-records.ndjson');
    await page.getByRole('link', { name: 'Imports' }).click();
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByRole('heading', { name: `Import of office ${javaScriptEnabled}` }).waitFor();
    await context.close();
  });

  it('leads to the sign-in when the session ended before a large file is sent', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'large-')), 'large.ndjson');
    writeFileSync(path, '');
    // The file system stores no byte of it.
    truncateSync(path, 4_000_000_000);
    const context = await browser.newContext();
    const page = await signIn(context);
    await page.goto(`${console.origin}/imports/new`);
    await page.getByRole('textbox', { name: 'Source' }).fill('large');
    await page.locator('#file').setInputFiles(path);
    await context.clearCookies();

    await page.getByRole('button', { name: 'Try the file' }).click();

    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    expect(page.url()).toBe(`${console.origin}/sign-in`);
    await context.close();
    rmSync(dirname(path), { recursive: true });
  });

  it.each([true, false])('gives ticked assets an owner by the page alone (scripts: %s)', async (javaScriptEnabled) => {
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled });
    const page = await signIn(context);
    await page.getByRole('link', { name: 'Inventory' }).click();
    await page.getByLabel('Owner', { exact: true }).selectOption('missing');
    await page.getByRole('button', { name: 'Filter' }).click();
    for (const box of await page.getByRole('checkbox').all()) await box.check();

    await page.getByLabel('a part of the name or e-mail address').fill('okaf');
    await page.getByRole('button', { name: 'Give owner' }).click();
    await page.getByRole('heading', { name: 'Choose the owner' }).waitFor();
    for (const viewport of javaScriptEnabled ? [DESK, PHONE] : []) {
      await page.setViewportSize(viewport);
      await look(page, 'choose-owner');
    }
    await page.getByRole('radio', { name: 'Ada Okafor' }).check();
    await page.getByRole('button', { name: 'Give owner' }).click();

    await page.waitForURL(`${console.origin}/inventory?hasOwner=false`);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await api.arrange.anAsset(workspaceId, { name: 'Without an owner' });
    await context.close();
  });
});
