import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type Server, request } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { DomainError } from '#libs/kernel';
import { UnsentBytes } from '#libs/platform/http/server';
import { FairShare } from '../../libs/console/src/http/fair-share';
import { type ConsoleBrowser, type TestConsole, formWithFile, startConsoleWithApi } from '../support/console-setting';
import type { TestApp } from '../support/start-app';
import { until } from '../support/until';

describe('A browser that does not read', () => {
  let console: TestConsole;
  let api: TestApp;
  let ours: { id: string; slug: string };
  let admin: ConsoleBrowser;
  beforeAll(async () => {
    ({ console, api } = await startConsoleWithApi());
    ours = await console.aWorkspace();
    admin = await console.signIn(ours.slug, 'admin');
  });
  afterAll(() => console.stop());

  /** Asks for a page, and reads its head only. */
  const ask = async (path: string, browser: ConsoleBrowser): Promise<IncomingMessage> => {
    const headers = { Cookie: browser.cookieHeader };
    const [response] = (await once(request(`${console.origin}${path}`, { headers }).end(), 'response')) as [
      IncomingMessage,
    ];
    response.on('error', () => undefined);
    return response;
  };
  const upload = async (file: Buffer): Promise<string> => {
    const form = formWithFile(file, 'bad.ndjson.gz');
    const path = (await admin.upload(await admin.uploadAddress(), form)).headers.get('location') ?? '';
    await admin.ended(path);
    return path;
  };

  it('keeps no failed records on the disk that were removed, and reads one file at a time', async () => {
    const path = await upload(gzipSync(`${'x'.repeat(100_000)}\n`.repeat(900)));
    const response = await ask(`${path}/failed-records`, admin);
    const another = await ask(`${path}/failed-records`, admin);
    another.destroy();
    await upload(gzipSync('{}\n'));

    let bytes = 0;
    response.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await new Promise((resolve) => response.once('close', resolve));

    expect(Number(response.headers['content-length'])).toBeGreaterThan(90e6);
    expect([response.complete, bytes < 60e6, another.statusCode]).toEqual([false, true, 429]);
  });

  it('holds 40 MB of pages, and then gets 503 while others get theirs', async () => {
    const enter = jest.spyOn(FairShare.prototype, 'enter').mockReturnValue();
    const hold = jest.spyOn(UnsentBytes.prototype, 'hold');
    const other = await console.signIn((await console.aWorkspace()).slug, 'viewer');
    const people = `INSERT INTO person (workspace_id, email, name, role)
                    SELECT $1, repeat('"', 250) || n, repeat('"', 200), 'viewer' FROM generate_series(1, 2500) AS n`;
    await api.arrange.change(ours.id, people, [ours.id]);
    // The operating system takes what its buffers have room for.
    const server = console.app.getHttpServer() as Server;
    const keepAll = (socket: Socket) => Object.assign(socket, { _write: () => undefined, _writev: null });
    server.on('connection', keepAll);
    const held: ClientRequest[] = [];
    const isRefused = () => hold.mock.results.some(({ type }) => type === 'throw');
    while (held.length < 50 && !isRefused()) {
      const calls = hold.mock.calls.length;
      const headers = { Cookie: admin.cookieHeader };
      held.push(request(`${console.origin}/people`, { agent: false, headers }).on('error', () => undefined));
      held.at(-1)?.end();
      await until(() => hold.mock.calls.length > calls);
    }
    const bytes = hold.mock.results.reduce(
      (sum, { value }, n) => sum + (value ? (hold.mock.calls[n]?.[1] ?? 0) : 0),
      0,
    );
    server.off('connection', keepAll);
    const [refused, { status }] = [await ask('/people', admin), await other.get('/inventory')];
    for (const one of held) one.destroy();
    enter.mockRestore();
    hold.mockRestore();

    expect([refused.statusCode, status]).toEqual([503, 200]);
    expect(bytes).toBeGreaterThan(38e6);
    expect(bytes).toBeLessThan(41e6);
  });

  it('gets 503 too where a form leads to a page of its own', async () => {
    const { id } = await api.arrange.anAsset(ours.id, { type: 'CUSTOM', name: 'Lamp' });
    for (const name of ['Ada One', 'Ada Two']) await api.arrange.anAsset(ours.id, { type: 'EMPLOYEE', name });
    const hold = jest.spyOn(UnsentBytes.prototype, 'holdWhole');
    const form = { ...(await admin.get(`/inventory/${id}`)).fields(`/inventory/${id}/owner`), owner: 'Ada' };
    hold.mockImplementationOnce(() => {
      throw new DomainError('service_unavailable', 'Earlier responses wait to be read.');
    });

    const refused = await admin.post(`/inventory/${id}/owner`, form);
    hold.mockRestore();

    expect([refused.status, refused.text.includes('Earlier responses')]).toEqual([503, true]);
    expect((await admin.post(`/inventory/${id}/owner`, form)).text).toContain('Choose the owner');
  });
});
