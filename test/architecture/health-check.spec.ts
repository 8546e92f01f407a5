import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { root } from './project-files';

describe('The health check of the image', () => {
  const listening: Server[] = [];
  afterEach(() => listening.splice(0).forEach((server) => server.close()));

  /** A server that responds with 200 on one path and with 503 elsewhere. */
  const serving = async (host: string, path: string): Promise<string> => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === path ? 200 : 503;
      response.end();
    });
    listening.push(server);
    server.listen(0, host);
    await once(server, 'listening');
    return String((server.address() as AddressInfo).port);
  };
  const outcome = async (environment: Record<string, string>, ...words: string[]): Promise<number | null> => {
    const child = spawn(process.execPath, [join(root, 'docker/healthcheck.mjs'), ...words], { env: environment });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code;
  };

  it('finds the instance at any address of its settings', async () => {
    const everywhere = await serving('0.0.0.0', '/livez');
    expect(await outcome({ MANAGEMENT_PORT: everywhere, MANAGEMENT_HOST: '0.0.0.0', PORT: '' })).toBe(0);
    const elsewhere = await serving('127.0.0.2', '/livez');
    expect(await outcome({ MANAGEMENT_PORT: elsewhere, MANAGEMENT_HOST: '127.0.0.2' })).toBe(0);
    const ofConsole = { CONSOLE_MANAGEMENT_PORT: everywhere, CONSOLE_MANAGEMENT_HOST: '0.0.0.0', MANAGEMENT_PORT: '1' };
    expect([await outcome(ofConsole, 'console'), await outcome(ofConsole)]).toEqual([0, 1]);
    const unmanaged = await serving('127.0.0.2', '/v1/health');
    expect(await outcome({ MANAGEMENT_PORT: '0', PORT: unmanaged, HOST: '127.0.0.2' })).toBe(0);
  });

  it('fails when the instance does not respond, or responds with an error', async () => {
    const wrong = await serving('127.0.0.1', '/nothing');
    expect(await outcome({ MANAGEMENT_PORT: wrong })).toBe(1);
    expect(await outcome({ MANAGEMENT_PORT: '1' })).toBe(1);
  });
});
