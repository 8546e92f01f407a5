import { randomUUID } from 'node:crypto';
import { type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type TestApp, startApp } from '../support/start-app';

const ENDLESS = 'Content-Length: 1000000000000\r\n';
const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n';
const HEALTH = 'GET /v1/health HTTP/1.1\r\nHost: a\r\n\r\n';

describe('A connection', () => {
  let app: TestApp;
  let asset: string;
  let token: string;
  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    asset = (await app.arrange.anAsset(workspace)).id;
    token = await app.arrange.aToken(workspace);
  });
  afterAll(() => app.stop());

  const post = (path: string, headers: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
  const patch = (headers: string): string =>
    `PATCH /v1/inventory/assets/${asset} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
    `Idempotency-Key: ${randomUUID()}\r\n${headers}\r\n`;

  it.each([
    ['401', () => post('/v1/inventory/assets', ENDLESS).replace('POST', 'PATCH')],
    ['404', () => post('/nowhere', ENDLESS)],
    ['405', () => post('/v1/health', ENDLESS)],
    ['413', () => post('/oauth/token', FORM + ENDLESS)],
    ['415', () => post('/oauth/token', ENDLESS)],
    ['200', () => post('/v1/health', ENDLESS).replace('POST', 'GET')],
  ])('is closed after the response %s to a request whose body does not end', async (status, head) => {
    const connection = await Connection.open(app.port, head());
    const bytes = Buffer.alloc(65_536, 'x');
    let sent = 0;
    const sending = (): void => {
      sent += bytes.length;
      if (connection.socket.writable) connection.socket.write(bytes, () => sending());
    };
    sending();

    await connection.closed;

    expect(connection.said).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*\r\nConnection: close\r\n[^]*}$`));
    // The buffers of both sides and 256 KiB.
    expect(sent).toBeLessThan(20_000_000);
  });

  it("stays open after a refusal when the request's body has arrived", async () => {
    const refused = patch('Authorization: Bearer wrong\r\nContent-Length: 2\r\n') + '{}';
    const connection = await Connection.open(app.port, `${refused}${HEALTH}`);
    await connection.says('"status":"ok"');
    expect(connection.statuses).toEqual(['401', '200']);
    connection.socket.destroy();
  });

  it('accepts a few pipelined requests', async () => {
    const connection = await Connection.open(
      app.port,
      HEALTH.repeat(15) + HEALTH.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
    );
    await connection.closed;
    expect(connection.statuses).toEqual(Array<string>(16).fill('200'));
  });

  describe('with Expect: 100-continue', () => {
    const EXPECT = 'Expect: 100-continue\r\n';

    it('gets the refusal instead of 100 when the request has no token', async () => {
      const connection = await Connection.open(app.port, patch(`${EXPECT}Content-Length: 2\r\n`));
      await connection.closed;
      expect(connection.statuses).toEqual(['401']);
    });

    it('gets the refusal instead of 100 when the form is too large', async () => {
      const head = post('/oauth/token', `${FORM}${EXPECT}Content-Length: 16385\r\n`);
      const connection = await Connection.open(app.port, head);
      await connection.closed;
      expect(connection.statuses).toEqual(['413']);
    });

    it('gets 100 when the request is acceptable, then the response', async () => {
      const head = patch(`Authorization: Bearer ${token}\r\n${EXPECT}Content-Length: 2\r\n`);
      const connection = await Connection.open(app.port, head);
      await connection.says('HTTP/1.1 100 Continue\r\n\r\n');
      connection.socket.write('{}');
      await connection.says(`"id":"${asset}"`);
      expect(connection.statuses).toEqual(['100', '200']);
      connection.socket.destroy();
    });
  });

  it.each([
    ['stops in the middle', 'Content-Length: 100\r\n', 'a=b', 'The body did not arrive in time.'],
    [
      'comes in pieces of one byte',
      'Transfer-Encoding: chunked\r\n',
      '1\r\na\r\n'.repeat(5_000),
      'The body came in too many pieces.',
    ],
  ])('is closed with 400 when a form %s', async (_, framing, body, detail) => {
    const connection = await Connection.open(app.port, post('/oauth/token', FORM + framing) + body);
    await connection.closed;
    expect(connection.said).toMatch(/^HTTP\/1.1 400 [^]*"error":"invalid_request"/);
    expect(connection.said).toContain(`"detail":"${detail}"`);
  });

  it('accepts a body in many small chunks', async () => {
    const chunks = [...'{"description":"in small chunks"}'].map((byte) => `1\r\n${byte}\r\n`).join('');
    const head = patch(`Authorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n`);
    const connection = await Connection.open(app.port, `${head}${chunks}`);
    await delay(50);
    connection.socket.write('0\r\n\r\n');
    await connection.says('"description":"in small chunks"');
    expect(connection.statuses).toEqual(['200']);
    connection.socket.destroy();
  });
});

/** A client that sends raw bytes. */
class Connection {
  said = '';
  readonly closed: Promise<unknown>;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.said += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', resolve));
  }

  static async open(port: number, bytes: string): Promise<Connection> {
    const connection = new Connection(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    connection.socket.on('end', () => setTimeout(() => connection.socket.end(), 100));
    connection.socket.write(bytes);
    await Promise.resolve();
    return connection;
  }

  get statuses(): string[] {
    return [...this.said.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status as string);
  }

  async says(text: string): Promise<void> {
    for (const deadline = Date.now() + 20_000; !this.said.includes(text); await delay(10)) {
      if (Date.now() > deadline) throw new Error(`it says: ${this.said}`);
    }
  }
}
