import { existsSync, readdirSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConsoleBrowser, type TestConsole, formWithFile, startConsole } from '../support/console-setting';
import { freePort } from '../support/free-port';
import { until } from '../support/until';

const PART = '--b\r\nContent-Disposition: form-data; name=';
const FILE = `${PART}"file"; filename="first.ndjson"\r\n\r\n{}\r\n`;

describe('A form whose file came and whose last field does not', () => {
  let console: TestConsole;
  let directory: string;
  let slug: string;
  let admin: ConsoleBrowser;
  beforeAll(async () => {
    const port = await freePort();
    directory = join(tmpdir(), `compliance-console-127.0.0.1-${port}`);
    console = await startConsole({ CONSOLE_PORT: String(port) });
    ({ slug } = await console.aWorkspace());
    admin = await console.signIn(slug, 'admin');
  });
  afterAll(() => console.stop());

  const places = () => (existsSync(directory) ? readdirSync(directory) : []);
  const send = async (browser: ConsoleBrowser): Promise<ClientRequest> => {
    const before = places();
    const headers = {
      ...{ Cookie: browser.cookieHeader, Origin: console.origin },
      ...{ 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Length': 1_000 },
    };
    const sending = request(`${console.origin}${await browser.uploadAddress()}`, { method: 'POST', headers });
    sending.on('error', () => undefined);
    sending.write(`${FILE}${PART}"source"\r\n\r\nx`);
    await until(() => places().length > before.length);
    return sending;
  };
  const sendNext = async () =>
    admin.upload(await admin.uploadAddress(), formWithFile('{}', 'next.ndjson', { source: 'next' }));

  it('keeps the one place of its workspace', async () => {
    const sending = await send(admin);

    const { status, text } = await sendNext();

    expect([status, places().length]).toEqual([409, 1]);
    expect(text).toContain('Another file of this workspace is on its way.');
    sending.destroy();
    await until(() => places().length === 0);
  });

  it('is closed for the next file when its person lost the right', async () => {
    const leaver = await console.signIn(slug, 'admin');
    const sending = await send(leaver);
    await admin.submit('/people', `/people/${leaver.personId}/remove`);
    const closed = new Promise((resolve) => sending.once('close', resolve));

    const { status } = await sendNext();

    await closed;
    expect([status, places().length]).toEqual([303, 1]);
    expect(console.logLines.filter(({ message }) => message === 'request failed')).toEqual([]);
  });
});
