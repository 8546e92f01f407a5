import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { GUIDES } from '../../libs/docs-site/src/guides/guide-list';
import { PathProxy } from '../support/path-proxy';
import { type TestApp, startApp } from '../support/start-app';
import { faultsOfAccess, keepScreenshot, startBrowser, widthOverflow } from './explorer';

/** A browser that is not there yet is installed first. */
const WITH_INSTALLATION = 5 * 60_000;

describe('The guides in a browser', () => {
  let app: TestApp;
  let browser: Browser;
  /** What nobody should see: errors on the console and breaches of the page's policy. */
  let faults: string[];
  beforeAll(async () => {
    browser = await startBrowser();
    app = await startApp();
  }, WITH_INSTALLATION);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  beforeEach(() => {
    faults = [];
  });
  afterEach(() => expect(faults).toEqual([]));

  const open = async (path: string, width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(path.startsWith('http') ? path : `${app.origin}${path}`);
    return page;
  };
  const menuEntry = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name, exact: true });

  const ALL = ['guides', ...GUIDES.map(({ name }) => `guides/${name}`)];
  // One template makes them all, so pages with menu, examples and tables show its faults. Colours do not depend on the width.
  const SOME = ['guides', 'guides/authentication', 'guides/errors'];

  it.each([
    ['a phone', 400, 'light' as const],
    ['a desk', 1280, 'light' as const],
    ['a phone at night', 400, 'dark' as const],
  ])('have accessible pages: %s (%i pixels, %s)', async (_, width, scheme) => {
    const page = await open('/docs/guides', width, scheme);
    for (const path of SOME) {
      await page.goto(`${app.origin}/docs/${path}`);
      await keepScreenshot(`${path.replace('/', '-')}-${width}-${scheme}`, page);
      expect([path, await faultsOfAccess(page, ['critical', 'serious'], width === 400)]).toEqual([path, []]);
    }
  });

  it('fit a phone and a desk', async () => {
    const page = await open('/docs/guides');
    for (const path of ALL) {
      await page.goto(`${app.origin}/docs/${path}`);
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 900 });
        expect([path, width, await widthOverflow(page)]).toEqual([path, width, 0]);
      }
    }
  });

  it('lead from Swagger UI to the guides, and from one to the next', async () => {
    const page = await open('/docs');
    // It names the base URL, which is not where this test finds the API.
    const link = page.getByRole('link', { name: 'Read the guides' });
    expect(await link.getAttribute('href')).toBe(`${app.settings.baseUrl}/docs/guides`);

    await page.goto(`${app.origin}/docs/guides`);
    await menuEntry(page, 'Getting started').click();
    await page.getByRole('heading', { name: 'Getting started', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Next Authentication' }).click();
    await page.getByRole('heading', { name: 'Authentication', level: 1 }).waitFor();
    expect(await menuEntry(page, 'Authentication').getAttribute('aria-current')).toBe('page');
  });

  it("load below a proxy's path prefix", async () => {
    const proxy = await PathProxy.to(app.origin, '/compliance/api');
    try {
      const page = await open(`${proxy.origin}/compliance/api/docs/guides`);
      await menuEntry(page, 'Errors').click();
      await menuEntry(page, 'Codes').click();
      expect(new URL(page.url()).hash).toBe('#codes');
      await page.getByRole('link', { name: 'Problems', exact: true }).click();
      await page.getByRole('link', { name: 'guide to errors' }).click();
      await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
      expect(proxy.strayed).toEqual([]);
    } finally {
      await proxy.close();
    }
  });

  it('show examples in one chosen language and copy one', async () => {
    const page = await open('/docs/guides/pagination');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Python' }).first().click();
    const example = page.locator('.code:visible', { hasText: 'def page(query)' });
    await example.getByRole('button', { name: 'Copy' }).click();
    await example.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^import json, os, time[^]*\["name"\]\)\n$/);

    await page.goto(`${app.origin}/docs/guides/updates`);
    expect(await page.locator('.code:visible', { hasText: 'urllib' }).count()).toBe(2);
    expect(await page.locator('.code:visible', { hasText: 'curl -sS' }).count()).toBe(0);
  });

  it('show languages and copy buttons in a browser that blocks storage', async () => {
    const page = await open('/docs/guides');
    await page.addInitScript(`Object.defineProperty(window, 'localStorage', {
      get: () => { throw new DOMException('blocked', 'SecurityError'); },
    })`);
    await page.goto(`${app.origin}/docs/guides/pagination`);

    await page.getByRole('button', { name: 'Python' }).first().click();

    const example = page.locator('.code:visible', { hasText: 'def page(query)' });
    expect(await example.getByRole('button', { name: 'Copy' }).count()).toBe(1);
  });

  it('say on a phone which tables and examples scroll, and scroll them by keyboard', async () => {
    const page = await open('/docs/guides/errors', 400);
    const table = page.getByRole('region', { name: 'Table in “Codes”' });
    await page.locator('.scrolls.table').first().waitFor();
    const cue = "getComputedStyle(document.querySelector('.scrolls.table'), '::before').content";
    expect(await page.evaluate(cue)).toBe('"Scroll sideways →"');

    await table.press('ArrowRight');

    // Playwright's own wait evaluates within the page, which the policy forbids.
    const scrolled = 'document.querySelector(\'[aria-label="Table in “Codes”"]\').scrollLeft';
    while ((await page.evaluate(scrolled)) === 0) await delay(20);

    await page.goto(`${app.origin}/docs/guides/authentication`);
    await page.locator('.scrolls.code figcaption').first().waitFor();
    await page.setViewportSize({ width: 2000, height: 900 });
    await page.locator('.scrolls.table').first().waitFor({ state: 'detached' });
  });

  it.each([
    ['guides', 1280, 'light' as const],
    ['guides/errors', 400, 'dark' as const],
  ])('find a section by keyboard: %s (%i pixels, %s)', async (path, width, scheme) => {
    const page = await open(`/docs/${path}`, width, scheme);
    const field = page.getByRole('searchbox', { name: 'Search the guides' });
    await field.fill('nosuchword');
    await page.getByText('Nothing found').waitFor();
    await field.fill('idempotency key');
    const found = page.getByRole('search').getByRole('link');
    await found.first().waitFor();
    expect(await widthOverflow(page)).toBe(0);
    expect(await faultsOfAccess(page, ['critical', 'serious'])).toEqual([]);
    await field.press('Tab');
    const href = await page.evaluate('document.activeElement.getAttribute("href")');
    expect(href).toBe(await found.first().getAttribute('href'));

    await field.press('Enter');

    await page.waitForURL(/\/docs\/guides\/idempotency(#|$)/);
  });

  it('open their menu on a phone', async () => {
    const page = await open('/docs/guides/errors', 400);
    expect(await menuEntry(page, 'Filters').isVisible()).toBe(false);
    await page.getByText('Menu', { exact: true }).click();
    await menuEntry(page, 'Filters').click();
    await page.getByRole('heading', { name: 'Filters', level: 1 }).waitFor();
  });
});
