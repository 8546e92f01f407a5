import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiServerAdapter } from './api-server';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';

const prototypeOf = (message: object): unknown => Object.getPrototypeOf(message);

describe('Connections of the public port', () => {
  let adapter: ApiServerAdapter;
  let server: Server;
  let port: number;
  let answers: ServerResponse[];
  beforeEach(async () => {
    adapter = new ApiServerAdapter('http://api.example.test');
    adapter.initHttpServer();
    adapter.use((_request: unknown, response: ServerResponse) => void answers.push(response));
    answers = [];
    server = adapter.getHttpServer() as unknown as Server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const open = async (bytes: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  const connections = (): Promise<number> =>
    new Promise((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))));
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + 60_000; !(await isSo()); await delay(10)) {
      if (Date.now() > deadline) throw new Error('it does not come to that');
    }
  };

  it('carry messages whose prototypes Express leaves as they are', async () => {
    let made: unknown[] = [];
    server.prependListener('request', (...messages) => (made = messages.map(prototypeOf)));
    const socket = await open(GET);
    await until(() => answers.length === 1);

    const [answer] = answers as [ServerResponse];
    expect([answer.req, answer].map(prototypeOf).map((prototype, place) => prototype === made[place])).toEqual([
      true,
      true,
    ]);
    socket.destroy();
  });

  it('process one request at a time in the order they were sent', async () => {
    const socket = await open(GET.repeat(3));
    let said = '';
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    for (const [place, text] of ['first', 'second', 'third'].entries()) {
      await until(() => answers.length === place + 1);
      await delay(30);
      expect(answers).toHaveLength(place + 1);
      answers[place]?.end(text);
    }
    await until(() => said.includes('third'));
    socket.destroy();
    expect(said).toMatch(/first[^]*second[^]*third/);
  });

  it.each([
    ['', GET.repeat(1_000)],
    // Each of the two would be a reason to stop.
    [', the last of which has too many headers', `${GET.repeat(17)}GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(250)}\r\n`],
  ])('are closed when a client sends far more requests than it got responses%s', async (_, requests) => {
    const socket = await open(requests);
    socket.on('error', () => undefined);
    await until(() => answers.length === 1);
    await until(async () => (await connections()) === 0);
    expect(answers).toHaveLength(1);
    socket.destroy();
    // Node reuses the parser of that connection.
    const other = await open(GET);
    await until(() => answers.length === 2);
    answers[1]?.end('second');
    const [said] = (await once(other, 'data')) as [Buffer];
    expect(said.toString()).toContain('second');
    other.destroy();
  });

  it('leave no response open when a client sends too many requests', async () => {
    let pending = 0;
    server.on('request', (_request, response: ServerResponse) => {
      pending += 1;
      response.once('close', () => (pending -= 1));
    });
    const socket = await open(GET.repeat(1_000));
    socket.on('error', () => undefined);
    await until(() => answers.length === 1);
    await until(() => pending === 0);
    socket.destroy();
  });

  it('are closed by CONNECT or malformed input while a response is due', async () => {
    for (const bytes of [CONNECT, 'GARBAGE\r\n\r\n']) {
      const socket = await open(`${GET}${bytes}`);
      let said = '';
      socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
      socket.on('error', () => undefined);
      const before = answers.length;
      await until(async () => answers.length > before && (await connections()) === 0);
      expect(said).toBe('');
      socket.destroy();
    }
  });

  it('are closed when a client reads nothing of a response, but not when it reads slowly', async () => {
    // The limit is fifteen times as long.
    server.timeout = 200;
    const [still, slow] = await Promise.all([open(GET), open(GET)]);
    still.pause();
    slow.pause();
    await until(() => answers.length === 2);
    const size = 30_000_000;
    answers.forEach((response) => response.end(Buffer.alloc(size)));
    let taken = 0;
    slow.on('data', (chunk: Buffer) => {
      taken += chunk.length;
      if (taken > reached) slow.pause();
    });
    let reached = 0;
    // The operating system takes more of the response about every second: for five periods no byte moves.
    const reading = setInterval(() => {
      reached = taken + 6_000_000;
      slow.resume();
    }, 1_000);
    const since = performance.now();
    await until(async () => (await connections()) === 1);
    const closedAfter = performance.now() - since;
    await until(() => taken > size);
    clearInterval(reading);
    expect(closedAfter).toBeGreaterThan(2_900);
    expect(performance.now() - since).toBeGreaterThan(4_500);
    still.destroy();
    slow.destroy();
  });

  it('stay open between requests for as long as they may be idle', async () => {
    // Silence counts for three seconds during a response only.
    server.timeout = 200;
    server.keepAliveTimeout = 3_500;
    const socket = await open(GET);
    await until(() => answers.length === 1);
    answers[0]?.end('first');
    await once(socket, 'data');
    const since = performance.now();
    await until(async () => (await connections()) === 0);
    expect(performance.now() - since).toBeGreaterThan(3_400);
    expect(performance.now() - since).toBeLessThan(6_500);
    socket.destroy();
  });

  it('stay open while a response is made slowly, and are closed when it takes too long', async () => {
    server.timeout = 50;
    const socket = await open(GET);
    await until(() => answers.length === 1);
    await delay(400);
    expect(await connections()).toBe(1);
    const since = performance.now();
    answers[0]?.write('a part');
    await until(async () => (await connections()) === 0);
    expect(performance.now() - since).toBeGreaterThan(700);
    socket.destroy();
  });

  it('end at once when the client disconnects after the response to CONNECT', async () => {
    const socket = await open(CONNECT);
    socket.resume();
    await once(socket, 'end');
    const since = performance.now();
    socket.end('Was anybody there?');
    await until(async () => (await connections()) === 0);
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it('affect nobody when a client disconnects during CONNECT', async () => {
    const served = once(server, 'connect');
    for (let round = 0; round < 30; round += 1) (await open(CONNECT)).resetAndDestroy();
    await served;
    await until(async () => (await connections()) === 0);
  });

  it('are closed after a refusal even if the client keeps its end open', async () => {
    const sockets = await Promise.all([open(CONNECT), open('GARBAGE\r\n\r\n')]);
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'end')));
    await until(async () => (await connections()) === 0);
    sockets.forEach((socket) => socket.destroy());
  });

  it('have no body made after the client disconnected', async () => {
    const socket = await open(GET);
    await until(() => answers.length === 1);
    const [answer] = answers as [Parameters<ApiServerAdapter['reply']>[0]];
    const toJSON = jest.fn();
    socket.destroy();
    await until(() => answer.closed);

    adapter.reply(answer, { toJSON });

    expect(toJSON).not.toHaveBeenCalled();
  });

  it('end every pending response once when they are lost', async () => {
    const responses: ServerResponse[] = [];
    server.on('request', (_request, response: ServerResponse) => responses.push(response));
    const socket = await open(GET.repeat(3));
    await until(() => responses.length === 3);
    const closed: number[] = [];
    responses.forEach((response, place) => response.on('close', () => closed.push(place)));
    responses[0]?.end('first');
    await once(socket, 'data');
    socket.destroy();
    await until(() => closed.length === 3);
    await delay(50);
    expect(closed.sort()).toEqual([0, 1, 2]);
  });
});
