import type { Browser } from 'playwright-core';
import { type TestApp, startApp } from '../support/start-app';
import { faultsOfAccess, keepScreenshot, startBrowser, widthOverflow } from './explorer';

/** Includes the installation of a missing browser. */
const WITH_INSTALLATION = 5 * 60_000;

describe('Problem pages in a browser', () => {
  let app: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
    app = await startApp();
  }, WITH_INSTALLATION);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  it('have the header of the guides, with the same style', async () => {
    const page = await browser.newPage();
    const header = async (path: string): Promise<unknown[]> => {
      await page.goto(`${app.origin}${path}`);
      const text = await page.getByRole('banner').innerText();
      return [text, await page.evaluate("getComputedStyle(document.querySelector('header')).borderBottom")];
    };

    const expected = await header('/docs/guides/errors');

    expect(await header('/problems')).toEqual(expected);
    expect(await header('/problems/token_missing')).toEqual(expected);
    await page.getByRole('link', { name: 'Skip to the text' }).press('Enter');
    expect(new URL(page.url()).hash).toBe('#main');
    await page.getByRole('link', { name: 'Guides', exact: true }).click();
    await page.getByRole('heading', { name: 'Guides', level: 1 }).waitFor();
  });

  it.each([
    ['a phone', 400, 'light', 'problems'],
    ['a phone', 400, 'dark', 'problems/idempotency_in_progress'],
    ['a small phone', 320, 'light', 'problems'],
    ['a desk', 1280, 'dark', 'problems'],
  ] as const)('fit %s of %i pixels in %s colours: /%s', async (_, width, colorScheme, path) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(`${app.origin}/${path}`);

    for (const landmark of ['banner', 'main'] as const) await page.getByRole(landmark).waitFor();
    await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Guides' }).waitFor();
    await keepScreenshot(`${path.replace('/', '-')}-${width}`, page);

    expect(await widthOverflow(page)).toBe(0);
    expect(await faultsOfAccess(page, ['critical', 'serious'])).toEqual([]);
  });
});
