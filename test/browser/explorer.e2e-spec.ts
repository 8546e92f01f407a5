import type { Browser, Locator } from 'playwright-core';
import { ApiClient } from '../support/api-client';
import type { ArrangedApplication, ArrangedAsset } from '../support/arrangement';
import { PathProxy } from '../support/path-proxy';
import { type TestApp, startApp } from '../support/start-app';
import { Explorer, ShownOperation, startBrowser, widthOverflow } from './explorer';

/** Includes the installation of a missing browser. */
const WITH_INSTALLATION = 5 * 60_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('Swagger UI', () => {
  let app: TestApp;
  let browser: Browser;
  let explorer: Explorer;
  let application: ArrangedApplication;
  let asset: ArrangedAsset;
  let computer: ArrangedAsset;
  /** Another application of the same workspace, for checking the page's effects. */
  let api: ApiClient;

  // One window for the whole file: its tests tell the story of one visit.
  beforeAll(async () => {
    browser = await startBrowser();
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    application = await app.arrange.anApplication(workspace);
    asset = await app.arrange.anAsset(workspace, { name: 'Badge printer' });
    computer = await app.arrange.anAsset(workspace, { type: 'COMPUTER', name: 'ada-mbp' });
    api = await app.arrange.aClient(workspace);
    explorer = await Explorer.open(browser, app.origin);
  }, WITH_INSTALLATION);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });
  afterEach(() => expect(explorer.faults).toEqual([]));

  const authorized = async (): Promise<void> => {
    await explorer.authorize(application.clientId, application.clientSecret);
    await explorer.dialog.getByText('Authorized', { exact: true }).waitFor();
  };
  const measured = new Set<string>();
  /** Opens an operation. The first time it is short, as its errors are folded. */
  const opened = async (operationId: string): Promise<ShownOperation> => {
    const shown = await explorer.operation(operationId);
    if (measured.has(operationId)) return shown;
    measured.add(operationId);
    const errors = shown.block.locator('tr.response[data-code^="4"], tr.response[data-code^="5"]');
    const { height } = (await shown.block.boundingBox()) ?? { height: Infinity };
    expect([operationId, await errors.count(), height < 4_000]).toEqual([operationId, 0, true]);
    return shown;
  };
  const succeeds = async (operationId: string, fillIn?: (shown: ShownOperation) => Promise<unknown>): Promise<void> => {
    const shown = await opened(operationId);
    await fillIn?.(shown);
    const { status, body } = await shown.execute();
    expect([operationId, status, JSON.parse(body)]).toEqual([operationId, '200', expect.any(Object)]);
    await shown.close();
  };
  const lastSent = (method: string): Record<string, string> =>
    explorer.sent.filter((request) => request.method === method).at(-1)?.headers ?? {};

  it('says beside Authorize that a new token ends the previous one, and reports a wrong secret', async () => {
    await explorer.openAuthorization();
    expect(await explorer.dialog.innerText()).toContain('One token is active per application.');
    await explorer.keepScreenshot('1-authorize');
    await explorer.authorize(application.clientId, 'wrong');
    const message = explorer.dialog.locator('.errors');
    await message.waitFor();
    expect(await message.innerText()).toMatch(/invalid_client.*could not be authenticated/);
    await explorer.keepScreenshot('2-wrong-secret');
  });

  it('authorizes by client credentials with HTTP Basic and lists assets', async () => {
    await authorized();
    expect(lastSent('POST')['authorization']).toMatch(/^Basic /);
    await explorer.keepScreenshot('3-authorized');
    await explorer.closeAuthorization();
    const kept = await explorer.page.evaluate<string>('JSON.stringify(localStorage)');
    expect([kept.includes(application.clientId), kept.includes(application.clientSecret)]).toEqual([true, false]);

    const list = await opened('listAssets');
    const { status, body } = await list.execute();
    expect([status, body]).toEqual(['200', expect.stringContaining('Badge printer')]);
    await explorer.keepScreenshot('4-list');
  });

  it('opens by a deep link, stays authorized, and updates with a fresh key for every try', async () => {
    await explorer.visit('#/Inventory/updateAsset');
    const update = await opened('updateAsset');
    await update.parameter('id').fill(asset.id);
    const key = update.parameter('Idempotency-Key');
    const first = await key.inputValue();
    expect(first).toMatch(UUID);
    await update.body.fill('{"description":"Seen in a browser"}');

    expect((await update.execute()).status).toBe('200');
    await explorer.keepScreenshot('5-update', update.block.locator('.live-responses-table'));
    expect(lastSent('PATCH')['idempotency-key']).toBe(first);
    expect((await api.get(`/v1/inventory/assets/${asset.id}`)).body['description']).toBe('Seen in a browser');

    const second = await key.inputValue();
    expect([second, second === first]).toEqual([expect.stringMatching(UUID), false]);
    await key.fill(first);
    expect((await update.execute()).headers).toContain('idempotent-replayed: true');
    expect(await key.inputValue()).not.toBe(first);
  });

  it('clears a field by a merge patch with If-Match, and shows the problem when the asset has changed', async () => {
    const entityTag = (await api.get(`/v1/inventory/assets/${asset.id}`)).headers.get('etag') as string;
    const update = await explorer.operation('updateAsset');
    await update.chooseMediaType('application/merge-patch+json');
    await update.parameter('If-Match').fill(entityTag);
    await update.body.fill('{"description":null}');
    expect((await update.execute()).status).toBe('200');
    expect(lastSent('PATCH')).toMatchObject({ 'content-type': 'application/merge-patch+json', 'if-match': entityTag });
    expect((await api.get(`/v1/inventory/assets/${asset.id}`)).body['description']).toBeNull();

    const { status, body } = await update.execute();
    expect([status, JSON.parse(body)]).toEqual(['412', expect.objectContaining({ code: 'precondition_failed' })]);
    await explorer.keepScreenshot('6-problem', update.block.locator('.live-responses-table'));
    await update.close();
  });

  it('shows that the token was superseded, and works again after authorizing', async () => {
    await new ApiClient(app.origin).requestToken({
      grant_type: 'client_credentials',
      client_id: application.clientId,
      client_secret: application.clientSecret,
    });
    const get = await opened('getAsset');
    await get.parameter('id').fill(asset.id);
    const { status, body } = await get.execute();
    expect([status, JSON.parse(body)]).toEqual(['401', expect.objectContaining({ code: 'token_superseded' })]);
    await explorer.keepScreenshot('7-superseded', get.block.locator('.live-responses-table'));

    await explorer.openAuthorization();
    await explorer.logOut();
    await authorized();
    await explorer.closeAuthorization();
    await succeeds('getAsset');
  });

  it('can try every kind of operation', async () => {
    const other = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await succeeds('issueToken', async (shown) => {
      await shown.field('client_id').fill(other.clientId);
      await shown.field('client_secret').fill(other.clientSecret);
    });
    await succeeds('updateAssets', (shown) =>
      shown.body.fill(`{"ids":["${asset.id}"],"patch":{"classification":"PUBLIC"}}`),
    );
    expect((await api.get(`/v1/inventory/assets/${asset.id}`)).body['classification']).toBe('PUBLIC');
    await succeeds('listComputerHistory', (shown) => shown.parameter('id').fill(computer.id));
    for (const operationId of ['getHealth', 'getKeySet']) await succeeds(operationId);
    const checkpoint = await opened('getAuditCheckpoint');
    expect(await checkpoint.execute()).toMatchObject({
      status: '200',
      body: expect.stringContaining('/audit/') as string,
    });
    await checkpoint.close();
  });

  it('works by keyboard alone, including the scopes of a token', async () => {
    const { page, faults, dialog } = await Explorer.open(browser, app.origin);
    const tabTo = async (wanted: Locator): Promise<void> => {
      for (let pressed = 0; pressed < 60; pressed += 1) {
        if ((await wanted.and(page.locator(':focus')).count()) === 1) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`No key reaches ${String(wanted)}.`);
    };
    const press = async (wanted: Locator, key: string): Promise<void> => {
      await tabTo(wanted);
      await page.keyboard.press(key);
    };
    await press(page.locator('.auth-wrapper .btn.authorize'), 'Enter');
    await dialog.waitFor();
    await tabTo(dialog.getByLabel('client_id'));
    await page.keyboard.type(application.clientId);
    await tabTo(dialog.getByLabel('client_secret'));
    await page.keyboard.type(application.clientSecret);
    await press(dialog.locator('input[type="checkbox"][id^="inventory:read"]'), 'Space');
    await press(dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }), 'Enter');
    await dialog.getByText('Authorized', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    const list = page.locator('.opblock[id$="-listCategories"]');
    await press(list.locator('.opblock-summary-control'), 'Enter');
    await press(list.getByRole('button', { name: 'Execute' }), 'Enter');
    const { status } = await new ShownOperation(list).response();
    expect([status, faults]).toEqual(['200', []]);
  });

  it("works on a phone, below a proxy's path prefix and under another host name, including problem pages", async () => {
    const proxy = await PathProxy.to(app.origin, '/compliance/api');
    const origin = proxy.origin.replace('127.0.0.1', 'localhost');
    try {
      const phone = await Explorer.open(browser, origin, '#/Inventory/listAssets', 390, '/compliance/api');
      await phone.keepScreenshot('8-phone');
      await phone.openAuthorization();
      await phone.keepScreenshot('9-phone-authorize');
      await phone.authorize(application.clientId, application.clientSecret);
      await phone.dialog.getByText('Authorized', { exact: true }).waitFor();
      await phone.closeAuthorization();
      const list = await phone.operation('listAssets');
      expect((await list.execute()).status).toBe('200');
      await phone.keepScreenshot('10-phone-list');
      expect(await widthOverflow(phone.page)).toBe(0);

      const { page } = phone;
      await page.goto(`${origin}/compliance/api/problems`);
      await page.getByRole('link', { name: 'token_superseded' }).click();
      await page.getByRole('heading', { name: 'token_superseded' }).waitFor();
      await page.getByRole('link', { name: 'All problems' }).click();
      await page.getByRole('heading', { name: 'Problems', exact: true }).waitFor();
      expect([proxy.strayed, phone.faults]).toEqual([[], []]);
    } finally {
      await proxy.close();
    }
  });

  it('says so when it cannot load the contract', async () => {
    const page = await browser.newPage();
    await page.route('**/docs/explorer.json', (route) => route.fulfill({ status: 503 }));

    await page.goto(`${app.origin}/docs`);

    await page.getByText('The contract could not be loaded.').waitFor({ timeout: 20_000 });
    await page.close();
  });
});
