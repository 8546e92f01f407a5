// The floor: a minimal hand-written server on node:http with the same responses. Has the same token check, bucket,
// statements, cursors, idempotency record and audit row. Has no framework, validation, log, metrics or row-level
// security, and only the measured routes.
import '../../../../apps/api/src/garbage-collection';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tellMeasurements } from '../../measured-process';
import { Refused, admit, rateHeaders } from './access';
import { findAsset, listAssets, listCategories, listComputers, streamAssets } from './reads';
import { issueToken } from './tokens';
import { updateAsset, updateAssets } from './updates';

const ASSETS = '/v1/inventory/assets';
const NDJSON = 'application/x-ndjson';
const IDENTIFIED = `${ASSETS}/`;

type Headers = Readonly<Record<string, string | number>>;

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  if (request.method === 'GET') return read(request, response, path, query);
  if (request.method === 'PATCH') return update(request, response, path);
  if (path !== '/oauth/token') throw new Refused(404);
  const [token, left] = await issueToken(await textOf(request));
  send(response, JSON.stringify(token), rateHeaders('token', left));
}

async function read(request: IncomingMessage, response: ServerResponse, path: string, query: string): Promise<void> {
  const { claims, left } = await admit(request.headers.authorization, 'read');
  const headers = rateHeaders('read', left);
  if (request.headers.accept === NDJSON) return stream(response, streamAssets(claims), headers);
  if (path === ASSETS) send(response, JSON.stringify(await listAssets(claims, query)), headers);
  else if (path.startsWith(IDENTIFIED)) {
    const [asset, version] = await findAsset(claims, path.slice(IDENTIFIED.length));
    send(response, JSON.stringify(asset), { ETag: `"${version}"`, ...headers });
  } else if (path === '/v1/computers') send(response, JSON.stringify(await listComputers(claims, query)), headers);
  else if (path === '/v1/inventory/categories') send(response, JSON.stringify(listCategories()), headers);
  else throw new Refused(404);
}

async function update(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  const { claims, left } = await admit(request.headers.authorization, 'write');
  const [body, requestId] = [await textOf(request), randomUUID()];
  const key = request.headers['idempotency-key'] as string;
  const write = { method: 'PATCH', path, key, requestId, body };
  const outcome =
    path === ASSETS
      ? await updateAssets(claims, write)
      : await updateAsset(claims, write, path.slice(IDENTIFIED.length));
  const headers: Record<string, string | number> = rateHeaders('write', left);
  if (outcome.entityTag !== null) headers['ETag'] = outcome.entityTag;
  if (outcome.replayed) headers['Idempotent-Replayed'] = 'true';
  send(response, outcome.body, headers, requestId);
}

async function stream(response: ServerResponse, lines: AsyncIterable<string>, headers: Headers): Promise<void> {
  response.writeHead(200, { 'Content-Type': NDJSON, 'X-Request-Id': randomUUID(), ...headers });
  for await (const text of lines) if (!response.write(text)) await once(response, 'drain');
  response.end();
}

function textOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}

function send(response: ServerResponse, body: string, headers: Headers, requestId: string = randomUUID()): void {
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...headers,
  });
  response.end(body);
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    // A load that ends leaves requests in flight.
    const aborted = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    if (!(error instanceof Refused) && !aborted) console.error(error);
    response.writeHead(error instanceof Refused ? error.status : 500).end();
  });
});

server.listen(0, '127.0.0.1', () => tellMeasurements((server.address() as AddressInfo).port));
