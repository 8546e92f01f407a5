import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { IN_FLIGHT_MS, NOTICE_MS, ServedConnections } from './graceful-stop';

describe('A graceful stop', () => {
  let server: Server;
  let connections: ServedConnections;
  /** Responses that the test leaves open. */
  let openResponses: ServerResponse[];
  let sockets: Socket[];

  beforeEach(async () => {
    openResponses = [];
    sockets = [];
    server = createServer((_request, response) => openResponses.push(response));
    connections = new ServedConnections(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    sockets.forEach((socket) => socket.destroy());
    server.closeAllConnections();
    server.close();
  });

  const connected = async (): Promise<Socket> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const requested = async (): Promise<Socket> => {
    const socket = await connected();
    const before = openResponses.length;
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    while (openResponses.length === before) await delay(5);
    return socket;
  };

  it('allows load balancers five seconds and requests twenty-five', () => {
    expect([NOTICE_MS, IN_FLIGHT_MS]).toEqual([5_000, 25_000]);
  });

  it('completes the request in flight with Connection: close', async () => {
    const socket = await requested();
    connections.announceClose();
    const drained = connections.drain(5_000);
    await delay(100);
    openResponses[0]?.end('late');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*late$/);
    await drained;
    expect(server.listening).toBe(false);
  });

  it('waits exactly the given time for a request without a response', async () => {
    const socket = await requested();
    const since = performance.now();
    const cutOff = once(socket.resume(), 'close').then(() => performance.now());
    await connections.drain(300);
    expect((await cutOff) - since).toBeGreaterThanOrEqual(290);
    expect(performance.now() - since).toBeLessThan(10_000);
  });

  it('reports a response that was cut off', async () => {
    await requested();
    let heard = false;
    openResponses[0]?.once('close', () => (heard = true));
    await connections.drain(50);
    expect(heard).toBe(true);
  });

  it('leaves no connection open that would delay closing the services behind it', async () => {
    const halfSent = await connected();
    halfSent.on('error', () => undefined).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123');
    while (openResponses.length === 0) await delay(5);
    await connections.drain(50);
    // The framework does the same when it closes the application.
    await new Promise((resolve) => server.close(resolve));
  }, 60_000);

  it('closes a connection when it becomes idle, whatever its response announced', async () => {
    const socket = await requested();
    openResponses[0]?.writeHead(200, { 'Content-Length': 4 });
    openResponses[0]?.flushHeaders();
    connections.announceClose();
    socket.resume();
    const drained = connections.drain(20_000);
    await delay(50);
    openResponses[0]?.end('late');
    const since = performance.now();
    await drained;
    expect(performance.now() - since).toBeLessThan(10_000);
  });

  it('waits for no idle connection', async () => {
    const idle = await requested();
    openResponses[0]?.end('answered');
    await once(idle, 'data');
    const silent = await connected();
    const closed = Promise.all([once(idle, 'close'), once(silent, 'close')]);
    idle.resume();
    silent.resume();
    const since = performance.now();
    await connections.drain(20_000);
    await closed;
    expect(performance.now() - since).toBeLessThan(10_000);
  });
});
