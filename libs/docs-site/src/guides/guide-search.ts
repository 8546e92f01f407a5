import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import MiniSearch from 'minisearch';
import type { RenderedGuides } from './guide-page';

/** Making an index and reading it need the same ones. */
const SEARCH_OPTIONS = { fields: ['title', 'heading', 'text'], storeFields: ['title', 'heading'] };

/** The library as a module for browsers. */
export const searchLibrary = (): string =>
  readFileSync(join(dirname(require.resolve('minisearch')), '../es/index.js'), 'utf8').replace(/^\/\/# source.*$/m, '');

/** The index of all guides by section and its options, as JSON. The id of an entry is its address below /docs/guides/. */
export function searchIndex(rendered: RenderedGuides): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const [{ name }, { title, passages }] of rendered) {
    index.addAll(passages.map(({ id, heading, text }) => ({ id: `${name}#${id}`, title, heading, text })));
  }
  return JSON.stringify({ options: SEARCH_OPTIONS, index });
}
