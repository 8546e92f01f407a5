import { InputPipe } from '#libs/platform/input';
import type { Request, Response } from 'express';

const pipe = new InputPipe();

/**
 * Reads the query of a list under the API's names. A form also sends fields that are empty, and one for each ticked box:
 * that leads to the address without them, and gives null. `read` makes what the API takes of what people write.
 * @throws `validation_failed`
 */
export async function listQuery<Query extends object>(
  dto: new () => Query,
  request: Request,
  response: Response,
  read: (sent: Record<string, unknown>) => Record<string, unknown> = (all) => all,
): Promise<Query | null> {
  const sent = Object.entries(request.query as Record<string, string | string[]>);
  const plain = sent.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value] as const);
  const given = plain.filter(([, value]) => value !== '');
  if (given.length === sent.length && sent.every(([, value]) => !Array.isArray(value))) {
    return (await pipe.transform(read({ ...request.query }), { type: 'query', metatype: dto })) as Query;
  }
  response.redirect(303, addressOf(request, given));
  return null;
}

/** The address of the next page. Null on the last one. */
export function nextPage(request: Request, cursor: string | null): string | null {
  if (cursor === null) return null;
  const kept = Object.entries(request.query as Record<string, string>).filter(([name]) => name !== 'since');
  return addressOf(request, [...kept.filter(([name]) => name !== 'pageCursor'), ['pageCursor', cursor]]);
}

/** The address of the list as a file, as filtered. */
export function downloadAddress(request: Request): string {
  const filters = Object.entries(request.query as Record<string, string>).filter(
    ([name]) => !['pageCursor', 'pageSize'].includes(name),
  );
  return addressOf({ path: `${request.path}/download` }, filters);
}

function addressOf({ path }: Pick<Request, 'path'>, parameters: readonly (readonly [string, string])[]): string {
  const query = new URLSearchParams(Object.fromEntries(parameters)).toString();
  return query === '' ? path : `${path}?${query}`;
}
