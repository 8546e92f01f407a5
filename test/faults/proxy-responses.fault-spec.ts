import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, type Server, createServer, request as send } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ErrorCode } from '#libs/kernel';
import { problemExample } from '#libs/platform/problems';
import { demandProgram } from '../support/programs.cjs';
import { freePort } from '../support/free-port';
import { until } from '../support/until';
import { CONSOLES, ProxyProcess, type Upstream, shippedConfiguration } from './proxy-process';
import { MINUTE } from './sizes';

const DOCKER = join(__dirname, '../../docker');
const textOf = (file: string): string => readFileSync(join(DOCKER, file), 'utf8');
const baseUrl = /^BASE_URL=(.*)$/m.exec(textOf('settings.env'))?.[1];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const problem = (code: ErrorCode, instance: string, requestId: string) => {
  const { type, title, status, detail } = problemExample(code, baseUrl ?? '');
  return { type, title, status, code, detail, instance, requestId };
};
const malformed = {
  ...problem('validation_failed', '/', '00000000-0000-0000-0000-000000000000'),
  detail: 'The request is not well-formed HTTP, is too large or did not arrive in time.',
};
const HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

/** The shipped configuration with shorter timeouts. */
const hastyConfiguration = (port: number, statisticsPort: number, upstreams: readonly Upstream[]): string =>
  shippedConfiguration(port, statisticsPort, upstreams)
    .replace(/timeout server \d+s/, 'timeout server 1s')
    .replace(/timeout http-request \d+s/, 'timeout http-request 1s');

/** The shipped part for the console, in place of that for the API. */
const consoleConfiguration = (port: number, statisticsPort: number, upstreams: readonly Upstream[]): string => {
  const [consoles = ''] = CONSOLES.exec(textOf('haproxy/haproxy.cfg')) ?? [];
  const servers = consoles
    .replace(/^ +default-server .*\n/m, '')
    .replace(/server-template .*/, `server console 127.0.0.1:${upstreams[0]?.port}`);
  const shipped = shippedConfiguration(port, statisticsPort, upstreams);
  return `${shipped.replace('default_backend instances', 'default_backend consoles')}\n${servers}`;
};

/** Responds like the API for its health and for `/v1/fault`. On other paths it fails as the path says. */
function failingInstance(): Server {
  return createServer((request, response) => {
    if (request.url?.startsWith('/v1/silent')) return;
    if (request.url === '/readyz') response.end();
    else if (request.url === '/v1/fault') {
      response.writeHead(500, { 'X-Request-Id': String(request.headers['x-request-id']), 'Content-Type': 'x/api' });
      response.end('as it is');
    } else request.socket.destroy();
  });
}

describe('Responses of the proxy in compose.yaml', () => {
  let directory: string;
  let instance: Server;
  let proxy: ProxyProcess;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    const port = await freePort();
    instance = failingInstance().listen(port, '127.0.0.1');
    const upstreams = [{ port, managementPort: port }];
    proxy = await ProxyProcess.start(join(directory, 'haproxy.cfg'), upstreams, hastyConfiguration);
    await proxy.sendsTo(1);
  }, MINUTE);
  afterAll(async () => {
    await proxy.stop();
    instance.close();
    instance.closeAllConnections();
    rmSync(directory, { recursive: true });
  }, MINUTE);

  const ask = (path: string, headers: OutgoingHttpHeaders = {}, method = 'GET') =>
    responseOf(`${proxy.origin}${path}`, method, headers);
  /** Expects a complete 503 of the API. */
  const expectUnavailable = ({ status, headers, text }: ApiResponse, instance: string): void => {
    const requestId = String(headers['x-request-id']);
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(headers).toMatchObject({ ...HEADERS, 'content-type': 'application/problem+json' });
    expect(JSON.parse(text)).toEqual(problem('service_unavailable', instance, requestId));
    expect(requestId).toMatch(UUID);
  };

  it.each([
    ['loses', '/v1/lost'],
    ['does not give', '/v1/silent'],
  ])('are problems with 503 service_unavailable when an instance %s', async (_why, path) => {
    expectUnavailable(await ask(`${path}?pageSize=5`), path);
  });

  it('have no body for HEAD and name no software', async () => {
    const head = await ask('/v1/lost', {}, 'HEAD');
    expect([head.status, head.text, head.headers['content-type']]).toEqual([503, '', 'application/problem+json']);
    expect(Object.keys(head.headers).filter((name) => ['server', 'via', 'x-powered-by'].includes(name))).toEqual([]);
  });

  it("have the client's request id when it is well formed", async () => {
    const named = await ask('/v1/lost', { 'X-Request-Id': 'order-7.42_a' });
    expect(named.headers['x-request-id']).toBe('order-7.42_a');
    expect(JSON.parse(named.text)).toEqual(problem('service_unavailable', '/v1/lost', 'order-7.42_a'));
    for (const id of ['a"b', 'x'.repeat(65), ['one', 'two']]) {
      expectUnavailable(await ask('/v1/lost', { 'X-Request-Id': id }), '/v1/lost');
    }
  });

  it('have the format of OAuth errors and the accepted media type at the token endpoint', async () => {
    const expected = {
      ...problem('service_unavailable', '/oauth/token', 'one'),
      error: 'temporarily_unavailable',
      error_description: problemExample('service_unavailable', '').detail,
    };
    for (const [accept, type] of [
      ['application/json', 'application/json'],
      ['Application/JSON', 'application/json'],
      ['*/*', 'application/problem+json'],
      ['application/json, application/problem+json', 'application/problem+json'],
    ] as const) {
      const { status, headers, text } = await ask('/oauth/token', { Accept: accept, 'X-Request-Id': 'one' }, 'POST');
      expect([status, headers['content-type'], JSON.parse(text)]).toEqual([503, type, expected]);
    }
  });

  it('never replace a response of the API, and share its request id', async () => {
    const answer = await fetch(`${proxy.origin}/v1/fault`);
    expect([answer.status, answer.headers.get('Content-Type'), await answer.text()]).toEqual([
      500,
      'x/api',
      'as it is',
    ]);
    expect(answer.headers.get('X-Request-Id')).toMatch(UUID);
    expect(answer.headers.get('Retry-After')).toBeNull();
  });

  it('are problems without a request id for malformed or late requests', async () => {
    const file = readFileSync(join(DOCKER, 'haproxy/malformed.http'), 'latin1');
    expect(parsed(file)).toEqual(malformed);
    // An older HAProxy sends a page of its own here, whatever it is told.
    if (!sendsFiles()) return;
    const { port } = new URL(proxy.origin);
    for (const request of ['GET / HTTP/1.1\r\nno header\r\n\r\n', 'GET / HTTP/1.1\r\nHost: here\r\n']) {
      expect(parsed(await exchange(Number(port), request))).toEqual(malformed);
    }
  });

  it('refuse a source that asks the console faster than people do, for a second', async () => {
    const { port = 0 } = instance.address() as { port?: number };
    const upstreams = [{ port, managementPort: port }];
    const consoles = await ProxyProcess.start(join(directory, 'consoles.cfg'), upstreams, consoleConfiguration);
    const status = async (): Promise<number | undefined> => (await responseOf(`${consoles.origin}/v1/fault`)).status;
    try {
      expect(new Set(await Promise.all(Array.from({ length: 90 }, status)))).toEqual(new Set([500]));
      const sent = await Promise.all(Array.from({ length: 400 }, status));
      expect(new Set(sent)).toEqual(new Set([500, 429]));
      await until(async () => (await status()) === 500);
    } finally {
      await consoles.stop();
    }
  });

  it(
    'are problems with 503 service_unavailable while no instance is ready',
    async () => {
      const port = await freePort();
      const upstreams = [{ port, managementPort: port }];
      const lonely = await ProxyProcess.start(join(directory, 'lonely.cfg'), upstreams, shippedConfiguration);
      try {
        await lonely.sendsTo(0);
        expectUnavailable(await responseOf(`${lonely.origin}/v1/health`), '/v1/health');
      } finally {
        await lonely.stop();
      }
    },
    MINUTE,
  );
});

interface ApiResponse {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** On a connection of its own: on one that was used before HAProxy hangs up where an instance does, for the client to repeat. */
async function responseOf(url: string, method = 'GET', headers: OutgoingHttpHeaders = {}): Promise<ApiResponse> {
  const request = send(url, { method, headers, agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, text };
}

/** Returns the body after checking the head of a response to a malformed request. */
function parsed(answer: string): unknown {
  const [head = '', body = ''] = answer.split(/\r?\n\r?\n/);
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  const wanted = { ...HEADERS, 'content-type': 'application/problem+json', 'x-request-id': malformed.requestId };
  for (const [name, value] of Object.entries(wanted)) expect(head.toLowerCase()).toContain(`\n${name}: ${value}`);
  return JSON.parse(body);
}

function sendsFiles(): boolean {
  const [, major, minor] =
    /version (\d+)\.(\d+)/.exec(spawnSync(demandProgram('haproxy'), ['-v'], { encoding: 'utf8' }).stdout) ?? [];
  return Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 3);
}

/** Returns all data until the other side closes. */
function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
