import type { Browser, Locator } from 'playwright-core';
import type { ArrangedApplication } from '../support/arrangement';
import { type TestApp, startApp } from '../support/start-app';
import { Explorer, faultsOfAccess, startBrowser } from './explorer';

/** Includes the installation of a missing browser. */
const WITH_INSTALLATION = 5 * 60_000;

describe('Swagger UI by keyboard and screen reader', () => {
  let app: TestApp;
  let browser: Browser;
  let application: ArrangedApplication;
  let explorer: Explorer;
  // One window for the whole file: its tests tell the story of one visit.
  beforeAll(async () => {
    browser = await startBrowser();
    app = await startApp();
    application = await app.arrange.anApplication(await app.arrange.aWorkspace());
    explorer = await Explorer.open(browser, app.origin);
  }, WITH_INSTALLATION);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  afterEach(() => expect(explorer.faults).toEqual([]));

  const dialog = (): Locator => explorer.page.getByRole('dialog', { name: 'Available authorizations' });
  const hasFocus = async (element: Locator): Promise<boolean> => {
    const focused = explorer.page.locator(':focus');
    return (await element.and(focused).or(element.locator(focused)).count()) === 1;
  };
  const opener = (): Locator => explorer.page.locator('.auth-wrapper .btn.authorize');

  it('returns focus to the Authorize button after the cross, Close and Escape', async () => {
    const lock = (await explorer.operation('listAssets')).block.locator('.authorization__btn');
    const ways = {
      cross: () => dialog().locator('.close-modal').click(),
      Close: () => dialog().getByRole('button', { name: 'Close', exact: true }).click(),
      Escape: () => explorer.page.keyboard.press('Escape'),
    };
    for (const [way, close] of Object.entries(ways)) {
      await lock.click();
      await dialog().waitFor();

      await close();

      await dialog().waitFor({ state: 'detached' });
      expect([way, await hasFocus(lock)]).toEqual([way, true]);
    }
  });

  it('keeps focus in the dialog by Tab in both directions', async () => {
    await explorer.openAuthorization();
    const seen = new Set<string>();
    for (const key of [...Array<string>(24).fill('Tab'), ...Array<string>(24).fill('Shift+Tab')]) {
      await explorer.page.keyboard.press(key);
      expect([key, await hasFocus(dialog())]).toEqual([key, true]);
      seen.add(await explorer.page.evaluate<string>('document.activeElement.outerHTML.slice(0, 80)'));
    }
    // Two fields, six scope checkboxes, the cross, Authorize and Close.
    expect(seen.size).toBeGreaterThanOrEqual(11);
    await explorer.closeAuthorization();
  });

  it('names every select and every body', async () => {
    const list = await explorer.operation('listAssets');
    await list.block.getByRole('combobox', { name: 'categoryKey', exact: true }).waitFor();
    const update = await explorer.operation('updateAsset');
    await update.block.getByRole('textbox', { name: 'Request body', exact: true }).waitFor();
    await update.block.getByRole('textbox', { name: 'Idempotency-Key', exact: true }).waitFor();
    await explorer.page.getByRole('combobox', { name: 'Server', exact: true }).waitFor();
  });

  it('sends id and secret in the Authorize dialog by Enter', async () => {
    await opener().press('Enter');
    await dialog().waitFor();
    expect(await dialog().getAttribute('aria-modal')).toBe('true');
    await explorer.page.keyboard.type(application.clientId);
    expect(await dialog().getByLabel('client_id').inputValue()).toBe(application.clientId);
    await dialog().getByLabel('client_secret').fill(application.clientSecret);

    await explorer.page.keyboard.press('Enter');

    await dialog().getByText('Authorized', { exact: true }).waitFor();
    expect(await hasFocus(dialog())).toBe(true);
    await explorer.page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(await hasFocus(opener())).toBe(true);
  });

  it('has no critical accessibility fault in the dialog, in an operation and in its response', async () => {
    const seen = async () => faultsOfAccess(explorer.page, ['critical']);
    await explorer.openAuthorization();
    const authorized = await seen();
    await explorer.logOut();
    const inDialog = await seen();
    await explorer.authorize(application.clientId, application.clientSecret);
    await explorer.dialog.getByText('Authorized', { exact: true }).waitFor();
    await explorer.closeAuthorization();
    for (const id of ['issueToken', 'updateAsset']) await explorer.operation(id);
    await (await explorer.operation('listAssets')).execute();
    const withResponse = await seen();

    expect({ authorized, inDialog, withResponse }).toEqual({ authorized: [], inDialog: [], withResponse: [] });
  });
});
