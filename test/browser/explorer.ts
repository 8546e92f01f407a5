/** @needs chromium */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AxeResults, ImpactValue, RunOptions } from 'axe-core';
import { type Browser, type Locator, type Page, chromium } from 'playwright-core';
import { demandProgram } from '../support/programs.cjs';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const SCREENSHOTS = join(__dirname, '../../test-results/browser');

/** Chromium logs this for every status from 400 on, expected or not. */
export const REFUSED = /^Failed to load resource: the server responded with a status of/;

export async function startBrowser(): Promise<Browser> {
  const executablePath = demandProgram('chromium');
  // The sandbox does not work as root, and the pages are our own.
  return chromium.launch({
    executablePath,
    // People's browsers keep a page, as it was left, for the way back.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-software-rasterizer'],
  });
}

/** Returns how many pixels the page is wider than its window. */
export async function widthOverflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** Returns the faults that axe-core finds on the page, with the elements. */
export async function faultsOfAccess(
  page: Page,
  impacts: readonly ImpactValue[],
  withContrast = impacts.includes('serious'),
): Promise<string[]> {
  // By far the slowest rule, and not a critical one.
  const rules = { 'color-contrast': { enabled: withContrast } };
  const violations = await violationsOn(page, { rules });
  return violations
    .filter(({ impact }) => impacts.includes(impact ?? null))
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

/** Returns the elements whose text has too little contrast. */
export async function faintTexts(page: Page): Promise<string[]> {
  const violations = await violationsOn(page, { runOnly: ['color-contrast'] });
  return violations.flatMap(({ nodes }) => nodes.map(({ target }) => target.join(' ')));
}

async function violationsOn(page: Page, options: RunOptions): Promise<AxeResults['violations']> {
  // The page's policy forbids scripts of other origins, but a debugger may run them.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const all = JSON.stringify({ resultTypes: ['violations'], ...options });
  return (await page.evaluate<AxeResults>(`axe.run(${all})`)).violations;
}

/** Saves a picture of the tested page, if the run asks for them by SCREENSHOTS=1. */
export async function keepScreenshot(name: string, of: Locator | Page): Promise<void> {
  if (process.env['SCREENSHOTS'] !== '1') return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await of.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** A response as the page shows it. */
export interface ShownResponse {
  readonly status: string;
  readonly body: string;
  readonly headers: string;
}

/** The page at /docs, as a person uses it. */
export class Explorer {
  /** Unwanted events: errors on the console, policy violations, requests to other origins. */
  readonly faults: string[] = [];
  readonly sent: { method: string; path: string; headers: Record<string, string> }[] = [];

  private constructor(
    readonly page: Page,
    private readonly origin: string,
    private readonly prefix: string,
  ) {
    // Beside other tests a browser may wait that long for its turn.
    page.setDefaultTimeout(60_000);
    page.on('console', (message) => {
      if (message.type() === 'error' && !REFUSED.test(message.text())) this.faults.push(message.text());
    });
    page.on('pageerror', (error) => this.faults.push(error.message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol === 'data:') return;
      if (url.origin !== this.origin) this.faults.push(`request to ${url.origin}`);
      this.sent.push({ method: request.method(), path: url.pathname, headers: request.headers() });
    });
  }

  /** `at` is the part after /docs, such as a deep link. `prefix` is a path that a proxy adds. */
  static async open(browser: Browser, origin: string, at = '', width = 1280, prefix = ''): Promise<Explorer> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: 'light' });
    const explorer = new Explorer(page, origin, prefix);
    await explorer.visit(at);
    return explorer;
  }

  async visit(at: string): Promise<void> {
    const isOpen = this.page.url() !== 'about:blank';
    await this.page.goto(`${this.origin}${this.prefix}/docs${at}`);
    // A change of the fragment alone loads nothing.
    if (isOpen) await this.page.reload();
    await this.page.locator('.opblock').first().waitFor();
    // One page in sixty or so of a browser without a window never draws a frame. Loading it again helps.
    if (await this.draws()) return;
    await this.page.reload();
    await this.page.locator('.opblock').first().waitFor();
  }

  private async draws(): Promise<boolean> {
    const frame = this.page.evaluate<boolean>('new Promise((ends) => requestAnimationFrame(() => ends(true)))');
    return Promise.race([frame, delay(5_000, false, { ref: false })]);
  }

  get dialog(): Locator {
    return this.page.locator('.modal-ux');
  }

  async openAuthorization(): Promise<void> {
    await this.page.locator('.auth-wrapper .btn.authorize').click();
    await this.dialog.waitFor();
  }

  /** Fills in the dialog. The caller waits for the result in the dialog. */
  async authorize(clientId: string, clientSecret: string): Promise<void> {
    await this.dialog.getByLabel('client_id').fill(clientId);
    await this.dialog.getByLabel('client_secret').fill(clientSecret);
    await this.dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
  }

  async logOut(): Promise<void> {
    await this.dialog.getByRole('button', { name: 'Remove authorization' }).click();
  }

  async closeAuthorization(): Promise<void> {
    await this.dialog.getByRole('button', { name: 'Close', exact: true }).click();
  }

  /** Opens the operation unless it is open. */
  async operation(operationId: string): Promise<ShownOperation> {
    const block = this.page.locator(`.opblock[id$="-${operationId}"]`);
    const shown = new ShownOperation(block);
    if (!(await shown.isOpen())) await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Execute' }).waitFor();
    return shown;
  }

  async keepScreenshot(name: string, of: Locator | Page = this.page): Promise<void> {
    await keepScreenshot(name, of);
  }
}

export class ShownOperation {
  constructor(readonly block: Locator) {}

  async isOpen(): Promise<boolean> {
    return /\bis-open\b/.test((await this.block.getAttribute('class')) ?? '');
  }

  parameter(name: string): Locator {
    return this.block.locator(`tr[data-param-name="${name}"]`).locator('input, select').first();
  }

  /** A field of a form. */
  field(name: string): Locator {
    return this.block.locator(`tr[data-property-name="${name}"] input`).first();
  }

  get body(): Locator {
    return this.block.locator('.opblock-section-request-body textarea').first();
  }

  async close(): Promise<void> {
    await this.block.locator('.opblock-summary-control').click();
  }

  async chooseMediaType(name: string): Promise<void> {
    await this.block.locator('.opblock-section-request-body').getByLabel('Request content type').selectOption(name);
  }

  async execute(): Promise<ShownResponse> {
    const live = this.block.locator('.live-responses-table');
    if (await live.isVisible()) {
      await this.block.getByRole('button', { name: 'Clear' }).click();
      await live.waitFor({ state: 'detached' });
    }
    await this.block.getByRole('button', { name: 'Execute' }).click();
    return this.response();
  }

  /** The response to the current request. */
  async response(): Promise<ShownResponse> {
    const response = this.block.locator('.live-responses-table tr.response').first();
    await response.waitFor();
    const [body, headers] = await Promise.all([
      response.locator('.highlight-code code').first().innerText(),
      response.locator('.headerline').allInnerTexts(),
    ]);
    const status = (await response.locator('.response-col_status').innerText()).split(/\s/)[0] ?? '';
    return { status, body, headers: headers.join('\n') };
  }
}
