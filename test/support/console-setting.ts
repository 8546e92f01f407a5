import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import { createConsole } from '../../apps/console/src/create-console';
import { loadConsoleSettings } from '../../apps/console/src/console-settings';
import { freePort } from './free-port';
import { runAdminOn } from './admin-command';
import { type TestApp, startAppOn } from './start-app';
import { type TestDatabase, createTestDatabase } from './test-database';

/** A response of the console, with the forms of its page. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Hidden fields of the form with this action, or of the first form. */
  fields(action?: string): Record<string, string>;
}

/** A browser: follows no redirect by itself, and keeps the console's cookies. */
export class ConsoleBrowser {
  cookies: Record<string, string> = {};

  constructor(readonly origin: string) {}

  /** The value of the header Cookie, for requests that a test sends itself. */
  get cookieHeader(): string {
    return Object.entries(this.cookies)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Shown> {
    return this.send('GET', path, undefined, headers);
  }

  post(
    path: string,
    fields: Record<string, string> | string[][],
    headers: Record<string, string> = {},
  ): Promise<Shown> {
    const body = new URLSearchParams(fields as Record<string, string>).toString();
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return this.send('POST', path, body, { ...type, Origin: this.origin, ...headers });
  }

  /** Where the form for a file sends it. The address holds the token. */
  async uploadAddress(): Promise<string> {
    const { text } = await this.get('/imports/new');
    return /action="(\/imports\?[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  }

  /** Follows a page that loads itself again to the end of what is under way. */
  async ended(path: string): Promise<Shown> {
    for (;;) {
      const page = await this.get(path);
      if (page.headers.get('refresh') === null) return page;
      await delay(50);
    }
  }

  /** Sends a form with a file. */
  upload(path: string, form: FormData, headers: Record<string, string> = {}): Promise<Shown> {
    return this.send('POST', path, form, { Origin: this.origin, ...headers });
  }

  /** Opens the page, fills the form with this action and sends it. */
  async submit(page: string, action: string, fields: Record<string, string> = {}): Promise<Shown> {
    const shown = await this.get(page);
    return this.post(action, { ...shown.fields(action), ...fields });
  }

  private async send(
    method: string,
    path: string,
    body: string | FormData | undefined,
    headers: Record<string, string>,
  ): Promise<Shown> {
    const response = await fetch(`${this.origin}${path}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { ...(this.cookieHeader ? { Cookie: this.cookieHeader } : {}), ...headers },
      redirect: 'manual',
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') delete this.cookies[name];
      else this.cookies[name] = value;
    }
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, fields: (action) => fieldsIn(text, action) };
  }
}

/** The form of an upload, filled. */
export function formWithFile(file: string | Buffer, name: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries({ source: 'hr', missing: 'keep', ...fields })) form.set(field, value);
  form.set('file', new Blob([new Uint8Array(Buffer.from(file))]), name);
  return form;
}

function fieldsIn(html: string, action?: string): Record<string, string> {
  const forms = html
    .split('<form')
    .slice(1)
    .map((form) => form.split('</form>')[0] ?? '');
  const form = forms.find((one) => action === undefined || one.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`There is no form with the action ${action ?? ''} in ${html}`);
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
}

export interface TestConsole {
  readonly origin: string;
  readonly database: TestDatabase;
  readonly app: NestExpressApplication;
  readonly logLines: readonly Record<string, unknown>[];
  /** A workspace with a slug of its own. */
  aWorkspace(name?: string): Promise<{ readonly id: string; readonly slug: string }>;
  admin(...words: string[]): Promise<Record<string, unknown>>;
  /** The path of a new link for a person. */
  linkOf(slug: string, email: string): Promise<string>;
  /** Adds a person and signs in by a link. */
  signIn(
    slug: string,
    role: 'viewer' | 'admin',
    email?: string,
  ): Promise<ConsoleBrowser & { readonly personId: string }>;
  browser(): ConsoleBrowser;
  stop(): Promise<void>;
}

export async function startConsole(overrides: Record<string, string> = {}, on?: TestDatabase): Promise<TestConsole> {
  const database = on ?? (await createTestDatabase());
  const port = Number(overrides['CONSOLE_PORT'] ?? (await freePort()));
  const environment = {
    NODE_ENV: 'test',
    CONSOLE_DATABASE_URL: database.consoleDatabaseUrl,
    CONSOLE_PORT: String(port),
    LOCAL_DIR: process.env['TEST_LOCAL_DIR'] ?? '',
    ...overrides,
  };
  const settings = await loadConsoleSettings(environment);
  const logLines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logLines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const app = await createConsole(settings, pino({ level: 'info', base: undefined, messageKey: 'message' }, sink));
  await app.listen(port, '127.0.0.1');
  const server = app.getHttpServer() as Server;
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const admin = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { exitCode, stdout, stderr } = await runAdminOn(database, [...words, '--json'], {
      ...overrides,
      CONSOLE_PORT: String(port),
    });
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const linkOf = async (slug: string, email: string): Promise<string> => {
    const { url } = await admin('console', 'link', '--workspace', slug, '--email', email);
    return (url as string).slice(origin.length);
  };
  return {
    ...{ origin, database, app, logLines, admin, linkOf },
    aWorkspace: async (name = 'Acme') => {
      const slug = `w-${randomBytes(6).toString('hex')}`;
      const { id } = await admin('workspaces', 'create', slug, '--name', name);
      return { id: id as string, slug };
    },
    browser: () => new ConsoleBrowser(origin),
    signIn: async (slug, role, email = `${role}-${randomBytes(4).toString('hex')}@example.com`) => {
      const person = ['--workspace', slug, '--email', email];
      const { id } = await admin('people', 'add', ...person, '--name', `The ${role}`, '--role', role);
      const browser = Object.assign(new ConsoleBrowser(origin), { personId: id as string });
      const path = await linkOf(slug, email);
      const shown = await browser.post(path, (await browser.get(path)).fields());
      if (shown.status !== 303) throw new Error(`${shown.status} ${shown.text}`);
      return browser;
    },
    stop: async () => {
      server.closeAllConnections();
      await app.close();
      if (!on) await database.drop();
    },
  };
}

/** Starts a console and an API on one database. The end of the console stops both, and drops the database. */
export async function startConsoleWithApi(
  overrides: Record<string, string> = {},
): Promise<{ readonly console: TestConsole; readonly api: TestApp }> {
  const database = await createTestDatabase();
  const console = await startConsole(overrides, database);
  const api = await startAppOn(database, overrides);
  const stop = async (): Promise<void> => {
    await api.stop();
    await console.stop();
    await database.drop();
  };
  return { console: { ...console, stop }, api };
}

export const localKeys = (): string => join(process.env['TEST_LOCAL_DIR'] ?? '', 'keys');
