import { isDeepStrictEqual } from 'node:util';
import { responseTo } from '../paths/routes';
import { type ApiPage, type Asked, type Readers, requestsOf, whoResponds } from './list-requests';

interface DirectusPage {
  readonly data: readonly object[];
  readonly meta?: { readonly filter_count: number };
}

/** @throws unless every variant returns the API's assets, and its total if any */
export async function assertSamePages(subject: string, asked: Asked, readers: Readers): Promise<void> {
  const responses = new Map<string, unknown>();
  for (const [variant, request] of requestsOf(asked)) {
    responses.set(variant, await responseTo(readers[whoResponds(variant)], request));
  }
  const should = responses.get('api') as ApiPage;
  responses.delete('api');
  for (const [variant, response] of responses) {
    const difference = differenceOf(response as DirectusPage, should);
    if (difference !== null) throw new Error(`${subject}, ${variant}: ${difference}`);
  }
}

/** Returns the difference between two pages, or null. Directus also returns positions. */
export function differenceOf({ data, meta }: DirectusPage, { results, pageInfo }: ApiPage): string | null {
  if (results.length === 0) return 'nothing is shown';
  const shown = data.map((asset) => Object.fromEntries(Object.entries(asset).filter(([name]) => name !== 'position')));
  const place = results.findIndex((asset, index) => !isDeepStrictEqual(shown[index], asset));
  if (place !== -1) return `${JSON.stringify(shown[place])} in place of ${JSON.stringify(results[place])}`;
  if (shown.length > results.length) return `${shown.length} assets in place of ${results.length}`;
  const total = meta?.filter_count;
  if (total !== undefined && total !== pageInfo.totalCount) return `a total of ${total}, not ${pageInfo.totalCount}`;
  return null;
}
