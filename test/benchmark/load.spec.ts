import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cannonade } from './load';

const PAGE = [{ method: 'GET', path: '/' }] as const;

describe('A load test', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const on = async (listener: RequestListener): Promise<number> => {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const options = { length: { requests: 20 }, connections: 2 };

  it('ends with its last response, not with its next check', async () => {
    let last = 0;
    const port = await on((_, response) => void response.end(() => (last = performance.now())));
    const since = performance.now();
    const { requestsPerSecond } = await cannonade(port, PAGE, options);
    expect(requestsPerSecond).toBeGreaterThan((20 / (last - since)) * 1_000 * 0.5);
  });

  it('counts responses and their durations', async () => {
    const port = await on((_, response) => void setTimeout(() => response.end('yes'), 5));
    const { total, requestsPerSecond, p50, p99 } = await cannonade(port, PAGE, options);
    expect(total).toBe(20);
    expect(requestsPerSecond).toBeGreaterThan(0);
    expect(p50).toBeGreaterThanOrEqual(4);
    expect(p99).toBeGreaterThanOrEqual(p50);
  });

  it.each([302, 500])('fails when one response of many is a %d', async (status) => {
    let asked = 0;
    const port = await on((_, response) => void response.writeHead((asked += 1) === 7 ? status : 200).end());
    await expect(cannonade(port, PAGE, options)).rejects.toThrow(`19 of 20 responses were 2xx`);
  });

  it('fails when a connection is lost during the measurement', async () => {
    let asked = 0;
    const port = await on((request, response) => ((asked += 1) === 7 ? request.socket.destroy() : response.end()));
    await expect(cannonade(port, PAGE, options)).rejects.toThrow('1 lost');
  });

  it('fails without responses', async () => {
    const port = await on(() => undefined);
    server.close();
    await once(server, 'close');
    await expect(cannonade(port, PAGE, { ...options, length: { seconds: 1 } })).rejects.toThrow(
      '0 of 0 responses were 2xx',
    );
  });
});
