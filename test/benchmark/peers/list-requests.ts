import type { LoadRequest } from '../load';
import { responseTo } from '../paths/routes';
import type { Site } from '../paths/site';
import { FIELDS } from './directus-collection';

/** A server, and a caller who may read its assets. */
export type Reader = Pick<Site, 'server' | 'authorization'>;
export type Readers = Readonly<Record<'api' | 'directus', Reader>>;

/**
 * The API continues from a cursor and always returns the exact total. Directus continues from the last position or an
 * offset, and counts on request.
 */
export type Variant = 'api' | 'directus' | 'directus by offset' | 'directus with total';

/** One page, requested in each variant's way. */
export type Asked = Readonly<Partial<Record<Variant, LoadRequest>>>;

export const requestsOf = (asked: Asked): [Variant, LoadRequest][] => Object.entries(asked) as [Variant, LoadRequest][];

export const whoResponds = (variant: Variant): keyof Readers => (variant === 'api' ? 'api' : 'directus');

export interface ApiPage {
  readonly results: readonly object[];
  readonly pageInfo: { readonly endCursor: string | null; readonly totalCount: number };
}

const PAGE = 25;
/** Pages read on the way to the middle. */
const WALKED = 100;
const ASSETS = '/v1/inventory/assets';

/** Returns the measured pages by name. `assets` is the approximate length of the list. */
export async function listRequests(readers: Readers, assets: number): Promise<Readonly<Record<string, Asked>>> {
  const ofApi = (query: string): LoadRequest => get(readers.api, `${ASSETS}?pageSize=${PAGE}${query}`);
  const ofDirectus = (query: string): LoadRequest =>
    get(readers.directus, `/items/assets?limit=${PAGE}&sort=position&fields=${FIELDS.join(',')}${query}`);
  const total = '&meta=filter_count';
  const filter = '&filter[ownerId][_null]=true&filter[classification][_eq]=CONFIDENTIAL';
  const middle = await walkTo(readers.api, assets / 2);
  return {
    'first page': {
      api: ofApi(''),
      directus: ofDirectus(''),
      'directus with total': ofDirectus(total),
    },
    'page in the middle': {
      api: ofApi(`&pageCursor=${middle.cursor}`),
      directus: ofDirectus(`&filter[position][_gt]=${middle.seen}`),
      'directus by offset': ofDirectus(`&offset=${middle.seen}`),
      'directus with total': ofDirectus(`&offset=${middle.seen}${total}`),
    },
    'filtered page': {
      api: ofApi('&hasOwner=false&classification=CONFIDENTIAL'),
      directus: ofDirectus(filter),
      'directus with total': ofDirectus(`${filter}${total}`),
    },
  };
}

/** Reads page by page, at least one, because a cursor exists only for a page that was read. */
async function walkTo(api: Reader, position: number): Promise<{ readonly cursor: string; readonly seen: number }> {
  let [cursor, seen] = ['', 0];
  do {
    const next = cursor && `&pageCursor=${cursor}`;
    const page = (await responseTo(api, get(api, `${ASSETS}?pageSize=${WALKED}${next}`))) as ApiPage;
    if (page.pageInfo.endCursor === null) throw new Error(`There are no ${position} assets.`);
    cursor = page.pageInfo.endCursor;
    seen += page.results.length;
  } while (seen < position);
  return { cursor, seen };
}

const get = ({ authorization }: Reader, path: string): LoadRequest => ({
  method: 'GET',
  path,
  headers: { authorization },
});
