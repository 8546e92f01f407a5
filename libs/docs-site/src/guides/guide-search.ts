import MiniSearch from 'minisearch';
import { EXAMPLE_ADDRESS } from './guide-list';
import type { RenderedGuides } from './guide-page';

/** Making an index and reading it need the same ones. */
const SEARCH_OPTIONS = { fields: ['title', 'heading', 'text'], storeFields: ['title', 'heading'] };

/**
 * The index of all guides by section, and its options. The id of an entry is its address below /docs/guides/. Pages show
 * the address of their API in the place of the example's, so nobody finds them by that.
 */
export function searchIndex(rendered: RenderedGuides): object {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const [{ name }, { title, passages }] of rendered) {
    for (const { id, heading, text } of passages) {
      index.add({ id: `${name}#${id}`, title, heading, text: text.replaceAll(EXAMPLE_ADDRESS, '') });
    }
  }
  return { options: SEARCH_OPTIONS, index };
}
