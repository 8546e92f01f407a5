import { isDeepStrictEqual } from 'node:util';
import { type Route, answerTo } from './routes';
import type { Site } from './site';

/** Throws unless the floor's answers are those of the API: one that says less is no measure. */
export async function assertSameAnswers(routes: readonly Route[], api: Site, floor: Site): Promise<void> {
  for (const route of routes) {
    const source = await route.source(api);
    if (!route.comparable || typeof source === 'function') continue;
    for (const request of source.slice(0, 20)) {
      const asFloor = { ...request, headers: { ...request.headers, authorization: floor.authorization } };
      const [said, should] = [await answerTo(floor, asFloor), await answerTo(api, request)].map(withoutCursor);
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
