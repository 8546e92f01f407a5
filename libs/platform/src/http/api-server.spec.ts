import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiServerAdapter } from './api-server';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';

describe('The connections of the public port', () => {
  let server: Server;
  let port: number;
  let answers: ServerResponse[];
  beforeEach(async () => {
    const adapter = new ApiServerAdapter('http://api.example.test');
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
    for (const deadline = Date.now() + 20_000; !(await isSo()); await delay(10)) {
      if (Date.now() > deadline) throw new Error('it does not come to that');
    }
  };

  it('give a CONNECT its answer when those before it are out', async () => {
    const socket = await open(`${GET}${GET}${CONNECT}`);
    let said = '';
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until(() => answers.length === 2);
    await delay(50);
    expect(said).toBe('');
    answers[1]?.end('second');
    answers[0]?.end('first');
    await once(socket, 'end');
    socket.destroy();
    expect(said).toMatch(/^HTTP\/1.1 200 [^]*first[^]*HTTP\/1.1 200 [^]*second[^]*HTTP\/1.1 404 [^]*not_found/);
  });

  it('end at once when the client hangs up after the answer to its CONNECT, whatever else it sends', async () => {
    const socket = await open(CONNECT);
    socket.resume();
    await once(socket, 'end');
    const since = performance.now();
    socket.end('Was anybody there?');
    await until(async () => (await connections()) === 0);
    expect(performance.now() - since).toBeLessThan(1_000);
  });

  it('harm nobody when a client leaves at its CONNECT', async () => {
    const served = once(server, 'connect');
    for (let round = 0; round < 30; round += 1) (await open(CONNECT)).resetAndDestroy();
    await served;
    await until(async () => (await connections()) === 0);
  });

  it('are ended after a refusal also when the client does not', async () => {
    const sockets = await Promise.all([open(CONNECT), open('GARBAGE\r\n\r\n')]);
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'end')));
    await until(async () => (await connections()) === 0);
    sockets.forEach((socket) => socket.destroy());
  });

  it('that are lost end every answer on them once, also those that were not in their turn', async () => {
    const socket = await open(`${GET}${GET}${GET}`);
    await until(() => answers.length === 3);
    const closed: number[] = [];
    answers.forEach((response, place) => response.on('close', () => closed.push(place)));
    answers[0]?.end('first');
    await once(socket, 'data');
    socket.destroy();
    await until(() => closed.length === 3);
    await delay(50);
    expect(closed.sort()).toEqual([0, 1, 2]);
  });
});
