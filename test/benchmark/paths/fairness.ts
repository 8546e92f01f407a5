import { isDeepStrictEqual } from 'node:util';
import type { LoadRequest } from '../load';
import { type Route, responseTo } from './routes';
import type { Site } from './site';

/** Number of compared responses for each route. */
const COMPARED = 20;

/** @throws unless the floor's responses equal the API's: a smaller response would be an unfair measure */
export async function assertSameResponses(routes: readonly Route[], api: Site, floor: Site): Promise<void> {
  for (const route of routes) {
    // Each server gets its own cursors, because they work only where they were issued.
    const [asked, askedOfFloor] = [await route.source(api), await route.source(floor)];
    if (!route.comparable || typeof asked === 'function' || typeof askedOfFloor === 'function') continue;
    for (const [index, request] of asked.slice(0, COMPARED).entries()) {
      const should = withoutCursor(await responseTo(api, request));
      const said = withoutCursor(await responseTo(floor, askedOfFloor[index] as LoadRequest));
      if (isDeepStrictEqual(said, should)) continue;
      throw new Error(
        `The floor responds to ${route.name} with ${JSON.stringify(said)}, the API ${JSON.stringify(should)}.`,
      );
    }
  }
}

/** Cursors are encrypted and always differ, so only their presence is compared. */
function withoutCursor(response: unknown): unknown {
  return JSON.parse(
    JSON.stringify(response, (name, value: unknown) => (name === 'endCursor' ? value !== null : value)),
  );
}
