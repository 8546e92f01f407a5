import { isDeepStrictEqual } from 'node:util';
import type { LoadRequest } from '../load';
import { type Route, answerTo } from './routes';
import type { Site } from './site';

/** Of each route so many answers. */
const COMPARED = 20;

/** Throws unless the floor's answers are those of the API: one that says less is no measure. */
export async function assertSameAnswers(routes: readonly Route[], api: Site, floor: Site): Promise<void> {
  for (const route of routes) {
    // Each by its own: a cursor is of use only where it was issued.
    const [asked, askedOfFloor] = [await route.source(api), await route.source(floor)];
    if (!route.comparable || typeof asked === 'function' || typeof askedOfFloor === 'function') continue;
    for (const [index, request] of asked.slice(0, COMPARED).entries()) {
      const should = withoutCursor(await answerTo(api, request));
      const said = withoutCursor(await answerTo(floor, askedOfFloor[index] as LoadRequest));
      if (isDeepStrictEqual(said, should)) continue;
      throw new Error(
        `The floor answers ${route.name} with ${JSON.stringify(said)}, the API ${JSON.stringify(should)}.`,
      );
    }
  }
}

/** Cursors are encrypted, so that no two are the same: of each remains whether there is one. */
function withoutCursor(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (name, value: unknown) => (name === 'endCursor' ? value !== null : value)));
}
