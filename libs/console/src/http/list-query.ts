import { DAY_MS, LAST_MILLISECOND, parseTimestamp } from '#libs/kernel';
import { refuseInstantOfPage } from '#libs/platform/streams';
import type { Request, Response } from 'express';
import { AnotherResponse, type PageContent, sendPage } from './page';
import { orShowAgain, pipe } from './read-fields';

/** Fields of a day, and how many days later its moment is: the last day counts too. */
const DAYS: Readonly<Record<string, number>> = { since: 0, until: 1, lastCheckedBefore: 0 };

/**
 * Reads the query of a list under the API's names. A form also sends empty fields, and one for each ticked box: that leads
 * to the address without them.
 * @throws `validation_failed` and {@link AnotherResponse}
 */
export async function listQuery<Query extends object>(dto: new () => Query, request: Request): Promise<Query> {
  const sent = Object.entries(request.query as Record<string, string | string[]>);
  const plain = sent.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value] as const);
  const given = plain.filter(([, value]) => value !== '');
  if (given.length < sent.length || sent.some(([, value]) => Array.isArray(value))) {
    throw new AnotherResponse((response) => response.redirect(303, request.path + textOf(Object.fromEntries(given))));
  }
  const query = (await pipe.transform(asApiReads(request.query), { type: 'query', metatype: dto })) as Query;
  refuseInstantOfPage(query);
  return query;
}

/**
 * Shows the list that `read` finds: the members of the page, the filters that apply (those sent, or the cursor's), and the
 * cursor of the next page. A fault of the query stands beside its field, or above the list without one, and what was typed
 * stays.
 */
export async function sendList(
  response: Response,
  view: 'inventory' | 'computers' | 'audit',
  content: PageContent,
  read: () => Promise<{ readonly filters: Readonly<Record<string, string>>; readonly cursor: string | null }>,
): Promise<void> {
  const query = response.req.query as Record<string, string>;
  const { since } = query;
  // A form below the list brings its query along.
  const list = `/${response.req.path.split('/')[1] ?? ''}`;
  const show = async (): Promise<void> => {
    const { filters, cursor, ...found } = await read();
    const next = cursor === null ? null : list + textOf({ ...query, pageCursor: cursor });
    // The first day is no filter.
    const download = `${list}/download${textOf({ ...(since && { since }), ...filters })}`;
    // The header names the API's next page.
    response.removeHeader('Link');
    sendPage(response, view, { typed: filters, ...content, list, next, download, ...found });
  };
  await orShowAgain(query, show, (refused) => sendPage(response, view, { ...content, list, ...refused }));
}

/** The query of the list, to come back to it. */
export const queryText = ({ query }: Request): string => textOf(query as Record<string, string>);

/** Turns what people choose into what the API takes. */
function asApiReads(sent: Record<string, unknown>): Record<string, unknown> {
  const read = { ...sent };
  // A type tells its category: whoever chose another one before means the type.
  if ('subKey' in sent) delete read['categoryKey'];
  // A cursor is later than the first day, which stays in the address for the form and the download.
  if ('pageCursor' in sent) delete read['since'];
  // A browser's field of a day sends no time. An address may have one.
  for (const [name, daysLater] of Object.entries(DAYS)) {
    const begin = parseTimestamp(`${String(read[name])}T00:00:00Z`);
    if (!begin) continue;
    read[name] = new Date(Math.min(begin.getTime() + daysLater * DAY_MS, LAST_MILLISECOND)).toISOString();
  }
  return read;
}

function textOf(parameters: Record<string, string>): string {
  const text = new URLSearchParams(parameters).toString();
  return text === '' ? '' : `?${text}`;
}
