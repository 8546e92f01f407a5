import type { Browser } from 'playwright-core';
import { type TestApp, startApp } from '../support/start-app';
import { Explorer, faintTexts, startBrowser, widthOverflow } from './explorer';

/** Includes the installation of a missing browser. */
const WITH_INSTALLATION = 5 * 60_000;
/** Less contrast than axe-core wants. Swagger UI sets this colour of numbers on each element. */
const NUMBER_IN_CODE = /highlight-code/;

describe('The look of Swagger UI', () => {
  let app: TestApp;
  let browser: Browser;
  let explorer: Explorer;
  beforeAll(async () => {
    browser = await startBrowser();
    app = await startApp();
  }, WITH_INSTALLATION);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  afterEach(async () => {
    expect(explorer.faults).toEqual([]);
    await explorer.page.close();
  });

  it('shows the Authorize button and the inventory at once', async () => {
    explorer = await Explorer.open(browser, app.origin);

    await explorer.keepScreenshot('docs-1280-light');

    const bottomOf = async (selector: string): Promise<number> => {
      const box = await explorer.page.locator(selector).first().boundingBox();
      return (box?.y ?? Infinity) + (box?.height ?? 0);
    };
    expect(await bottomOf('.auth-wrapper .btn.authorize')).toBeLessThan(900);
    expect(await bottomOf('.opblock[id$="-listAssets"]')).toBeLessThan(900);
    expect(await explorer.page.locator('.opblock-tag').first().getAttribute('data-tag')).toBe('Inventory');
  });

  it('follows the colours of the system, with enough contrast at night', async () => {
    explorer = await Explorer.open(browser, app.origin, '#/Inventory/updateAsset');
    const { page } = explorer;
    const dark = page.locator('html.dark-mode');
    expect(await dark.count()).toBe(0);

    await page.emulateMedia({ colorScheme: 'dark' });

    await dark.waitFor();
    await page.locator('.unfold').first().click();
    await explorer.keepScreenshot('docs-1280-dark');
    expect((await faintTexts(page)).filter((text) => !NUMBER_IN_CODE.test(text))).toEqual([]);
  });

  it('unfolds an error by keyboard and folds it again', async () => {
    explorer = await Explorer.open(browser, app.origin);
    const { block } = await explorer.operation('listAssets');
    const button = block.getByRole('button', { name: '401 token_missing, token_invalid' });
    const error = block.locator('tr.response[data-code="401"]');

    await button.press('Enter');
    await error.getByText('The request has no bearer token.').waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');

    await button.press('Enter');
    await error.waitFor({ state: 'detached' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
  });

  it('fits a phone: code wraps, and scrolls as a named region', async () => {
    explorer = await Explorer.open(browser, app.origin, '', 400);
    const { block } = await explorer.operation('listAssets');
    const code = block.getByRole('region', { name: 'Code', exact: true }).first();
    await code.scrollIntoViewIfNeeded();
    await explorer.keepScreenshot('docs-400-light');

    expect(await code.getAttribute('tabindex')).toBe('0');
    const overflows =
      "[...document.querySelectorAll('pre.microlight')].some((one) => one.scrollWidth > one.clientWidth)";
    expect([await explorer.page.evaluate(overflows), await widthOverflow(explorer.page)]).toEqual([false, 0]);
  });
});
