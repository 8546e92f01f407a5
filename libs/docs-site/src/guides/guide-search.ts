import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import MiniSearch from 'minisearch';
import type { RenderedGuides } from './guide-page';

/** Making an index and reading it need the same ones. */
const SEARCH_OPTIONS = { fields: ['title', 'heading', 'text'], storeFields: ['title', 'heading'] };

const SECTIONS_AT_ONCE = 10;

/** The library as a module for browsers. */
export const searchLibrary = (): string =>
  readFileSync(join(dirname(require.resolve('minisearch')), '../es/index.js'), 'utf8').replace(/^\/\/# source.*$/m, '');

/**
 * The index of all guides by section and its options, as JSON. The id of an entry is its address below /docs/guides/. Making
 * it takes a tenth of a second, so other requests have their turns between its sections.
 */
export async function searchIndex(rendered: RenderedGuides): Promise<string> {
  const sections = [...rendered].flatMap(([{ name }, { title, passages }]) =>
    passages.map(({ id, heading, text }) => ({ id: `${name}#${id}`, title, heading, text })),
  );
  const index = new MiniSearch(SEARCH_OPTIONS);
  await index.addAllAsync(sections, { chunkSize: SECTIONS_AT_ONCE });
  return JSON.stringify({ options: SEARCH_OPTIONS, index });
}
