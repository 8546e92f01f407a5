import { randomUUID } from 'node:crypto';
import type { LoadRequest, LoadSource } from '../load';
import { tokenRequests } from '../servers';
import type { Site } from './site';

const ASSETS = '/v1/inventory/assets';
/** Number of different assets requested in turn. */
const ASKED = 200;
/** Number of different pages requested in turn. */
const LISTED = 50;
const REPLAYED = 64;
const BULK = 100;
const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];

/** One kind of request, and the requests to send to a site. */
export interface Route {
  readonly name: string;
  readonly kind: 'read' | 'write';
  /** The cost in reads, so that warming up takes equally long for every route. */
  readonly weight: number;
  /** Tells whether two responses to the same request are equal, apart from cursors. */
  readonly comparable: boolean;
  source(site: Site): Promise<LoadSource>;
}

const get =
  (path: string) =>
  ({ authorization }: Site): Promise<LoadSource> =>
    Promise.resolve([{ method: 'GET', path, headers: { authorization } }]);

export const ROUTES: readonly Route[] = [
  { name: 'list', kind: 'read', weight: 1, comparable: true, source: pages },
  { name: 'by id', kind: 'read', weight: 1, comparable: true, source: byId },
  { name: 'computers', kind: 'read', weight: 1, comparable: true, source: get('/v1/computers') },
  { name: 'categories', kind: 'read', weight: 1, comparable: true, source: get('/v1/inventory/categories') },
  {
    name: 'token',
    kind: 'write',
    weight: 10,
    comparable: false,
    source: ({ applications }) => Promise.resolve(tokenRequests(applications)),
  },
  { name: 'update', kind: 'write', weight: 10, comparable: false, source: updates },
  { name: 'bulk of 100', kind: 'write', weight: 40, comparable: false, source: bulks },
  { name: 'replay', kind: 'write', weight: 5, comparable: false, source: replays },
];

const pageOf100 = (name: string, path: string): Route => ({
  ...{ name, kind: 'read', weight: 4, comparable: false, source: get(path) },
});

/** Pages of the API alone, which are compared with each other. */
export const PAGES_OF_100 = [
  pageOf100('list of 100', `${ASSETS}?pageSize=100`),
  pageOf100('changes of 100', '/v1/inventory/changes'),
  pageOf100('owned list of 100', `${ASSETS}?pageSize=100&hasOwner=true`),
  pageOf100('owned list of 100 with owners', `${ASSETS}?pageSize=100&hasOwner=true&expand=owner`),
];

interface AssetPage {
  readonly results: readonly { readonly categoryKey: string }[];
  readonly pageInfo: { readonly endCursor: string | null };
}

/**
 * Pages of 25 assets of all kinds, each by the previous page's cursor. Starts after the demo's employees, who come
 * first as owners and have the smallest responses.
 */
async function pages(site: Site): Promise<LoadSource> {
  const headers = { authorization: site.authorization };
  const after = (cursor: string | null, size: number): LoadRequest => {
    const from = cursor === null ? '' : `&pageCursor=${cursor}`;
    return { method: 'GET', path: `${ASSETS}?pageSize=${size}${from}`, headers };
  };
  const next = async (request: LoadRequest): Promise<{ readonly cursor: string; readonly hasEmployees: boolean }> => {
    const { results, pageInfo } = (await responseTo(site, request)) as AssetPage;
    if (pageInfo.endCursor === null) throw new Error('There are too few assets behind the employees.');
    return { cursor: pageInfo.endCursor, hasEmployees: results.some((one) => one.categoryKey === 'EMPLOYEE') };
  };
  let page = await next(after(null, 100));
  while (page.hasEmployees) page = await next(after(page.cursor, 100));
  const requests: LoadRequest[] = [];
  for (let { cursor } = page; requests.length < LISTED; { cursor } = await next(requests.at(-1) as LoadRequest)) {
    requests.push(after(cursor, 25));
  }
  return requests;
}

async function byId(site: Site): Promise<LoadSource> {
  const ids = await assetIds(site);
  const headers = { authorization: site.authorization };
  return ids.slice(0, ASKED).map((id): LoadRequest => ({ method: 'GET', path: `${ASSETS}/${id}`, headers }));
}

/** Each update changes a different asset. */
export async function updates(site: Site): Promise<() => LoadRequest> {
  const ids = await assetIds(site);
  let sent = 0;
  return () => {
    sent += 1;
    return patch(site, `${ASSETS}/${ids[sent % ids.length]}`, governance(sent));
  };
}

async function bulks(site: Site): Promise<LoadSource> {
  const ids = await assetIds(site);
  let sent = 0;
  return () => {
    sent += 1;
    const chosen = Array.from({ length: BULK }, (_, index) => ids[(sent * BULK + index) % ids.length]);
    return patch(site, ASSETS, { ids: chosen, patch: governance(sent) });
  };
}

/** Updates that were already made once before the load begins. */
async function replays(site: Site): Promise<LoadSource> {
  const ids = await assetIds(site);
  const requests = ids.slice(0, REPLAYED).map((id, index) => patch(site, `${ASSETS}/${id}`, governance(index)));
  for (const request of requests) await responseTo(site, request);
  return requests;
}

/** A new description each time, so that every update changes something. */
const governance = (count: number): object => ({
  classification: CLASSIFICATIONS[count % 4],
  description: `Reviewed ${count} at ${process.hrtime.bigint()}`,
});

const patch = ({ authorization }: Site, path: string, body: object): LoadRequest => ({
  method: 'PATCH',
  path,
  headers: { authorization, 'idempotency-key': randomUUID(), 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Returns visible, writable assets in no particular order. */
async function assetIds({ database, workspace }: Site): Promise<readonly string[]> {
  const { rows } = await database.admin.query<{ id: string }>(
    `SELECT public_id AS id FROM (
       SELECT public_id FROM asset
        WHERE workspace_id = $1 AND facet IS NOT NULL AND sub_key <> 15 ORDER BY id LIMIT 10000) AS first
      ORDER BY md5(public_id::text)`,
    [workspace],
  );
  return rows.map(({ id }) => id);
}

/** Sends one request and returns its response. @throws unless the status is 200 */
export async function responseTo({ server }: Pick<Site, 'server'>, request: LoadRequest): Promise<unknown> {
  const { method, path, headers, body } = request;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
