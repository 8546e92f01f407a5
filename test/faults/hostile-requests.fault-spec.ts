import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { operationsOf, readContract } from '../contract/contract-document';
import { CONTRACT_FILE } from '../contract/contract-files';
import { assertDocumented, headersOf, oracle } from '../contract/contract-oracle';
import { arrangeEveryResource, cursorsOf } from '../contract/every-resource';
import { type ExistingValues, type HostileRequest, HostileRequests } from '../contract/hostile-requests';
import { OTHER_ORIGIN } from '../contract/hostile-values';
import { type TestApp, startApp } from '../support/start-app';
import { IS_LONG, MINUTE, sized, tell } from './sizes';

const REQUESTS = sized({ short: 600, long: 100_000 });
/** A response that takes longer counts as none. */
const RESPONSE_MS = 20_000;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

const contract = readContract(CONTRACT_FILE);

/** Each request of the contract with a fault gets a documented response, never a 5xx. Every refusal is a problem. */
describe('Hostile requests', () => {
  let app: TestApp;
  let requests: HostileRequests;
  let authorizations: readonly string[];

  beforeAll(async () => {
    app = await startApp();
    const workspace = await app.arrange.aWorkspace();
    requests = new HostileRequests(contract, await existingValues(workspace));
    const full = `Bearer ${await app.arrange.aToken(workspace)}`;
    const poor = `Bearer ${await app.arrange.aToken(workspace, ['frameworks:read'])}`;
    authorizations = [...Array.from({ length: 14 }, () => full), poor, ''];
  });
  afterAll(() => app.stop());

  async function existingValues(workspace: string): Promise<ExistingValues> {
    const { employee, ids } = await arrangeEveryResource(app, workspace);
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const cursors = await cursorsOf(contract, await app.arrange.aClient(workspace), ids);
    const assets = Object.values(ids);
    const now = new Date();
    const [today, minuteAgo] = [now.toISOString().slice(0, 10), new Date(now.getTime() - MINUTE).toISOString()];
    return {
      ...Object.fromEntries(Object.entries(cursors).map(([list, cursor]) => [`${list}.pageCursor`, [cursor]])),
      id: assets,
      ids: assets,
      assetId: assets,
      'getComputer.id': [ids['/v1/computers'] as string],
      'listComputerHistory.id': [ids['/v1/computers'] as string],
      ownerId: [employee],
      ...{ ownerEmail: ['ada@example.com'], email: ['ada@example.com'] },
      ...{ key: ['env', 'team'], tagKey: ['env'], source: ['test', 'hr'] },
      ...{
        from: [today],
        to: [today],
        asOf: [now.toISOString()],
        since: ['now', minuteAgo],
        until: [now.toISOString()],
      },
      'If-Match': ['*', '*', '"1"'],
      ...{ clientId: [clientId], client_id: [clientId], client_secret: [clientSecret] },
      ...{ audience: [app.settings.tokenAudience], scope: ['inventory:read'] },
    };
  }

  const send = ({ method, target, headers, body }: HostileRequest): Promise<IncomingMessage & { bytes: Buffer }> =>
    new Promise((resolve, reject) => {
      const all = { ...headers, 'Content-Length': String(body.length) };
      const options = { host: '127.0.0.1', port: app.port, method, path: target, headers: all, timeout: RESPONSE_MS };
      const sent = request(options as object, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve(Object.assign(response, { bytes: Buffer.concat(chunks) })));
      });
      sent.on('timeout', () => sent.destroy(new Error(`no response within ${RESPONSE_MS} ms`)));
      sent.on('error', reject);
      sent.end(body, 'latin1');
    });

  /** @throws for a response that no client should see */
  function judge({ method, target }: HostileRequest, response: IncomingMessage & { bytes: Buffer }): void {
    const { statusCode: status = 0, headers, bytes } = response;
    const text = String(headers['content-encoding'] === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes);
    const given = { status, headers: headersOf(response), text };
    // These are refused before the operation is known.
    if (status === 431 || text.includes('"header":"Host"')) expect(oracle().faultsOfRefusal(given)).toEqual([]);
    else assertDocumented(method, target.replace(OTHER_ORIGIN, ''), given);
    expect(headers['x-request-id']).toMatch(REQUEST_ID);
    expect(status).toBeLessThan(500);
    if (status < 400) return;
    const isTokenEndpoint = /\/oauth\/token(?![^?#])/.test(target);
    expect(headers['content-type']).toMatch(
      isTokenEndpoint ? /^application\/(problem\+)?json/ : /^application\/problem\+json/,
    );
    if (method === 'HEAD') return;
    expect(JSON.parse(text)).toMatchObject({ status, code: expect.any(String) as string });
  }

  it(
    `get a documented response, in ${REQUESTS} runs`,
    async () => {
      const statuses = new Map<number, number>();
      const succeeded = new Set<string>();

      await fc.assert(
        fc.asyncProperty(requests.any(), fc.nat(15), async (one, who) => {
          const authorization = authorizations[who] || undefined;
          const headers = { ...(authorization && { Authorization: authorization }), ...one.headers };
          const response = await send({ ...one, headers });
          const { statusCode: status = 0 } = response;
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 200) succeeded.add(one.operationId);
          judge(one, response);
        }),
        { numRuns: REQUESTS },
      );

      tell('hostile requests', Object.fromEntries([...statuses].sort(([a], [b]) => a - b)));
      // Refused requests alone would prove nothing.
      const operations = operationsOf(contract).map(({ operation }) => operation.operationId ?? '');
      const unsuccessful = operations.filter((operationId) => !succeeded.has(operationId));
      // A few hundred requests may leave one out.
      expect(IS_LONG ? unsuccessful : []).toEqual([]);
      for (const status of [200, 400, 401, 404, 405])
        expect([status, (statuses.get(status) ?? 0) > 10]).toEqual([status, true]);
    },
    sized({ short: 2, long: 40 }) * MINUTE,
  );
});
