/** Where a page starts: `after` is the position of the last item of the page before, null for the first page. */
export interface PageRequest {
  readonly size: number;
  readonly after: string | null;
}

/** One page of a list. `endPosition` is the position of its last item, null when nothing follows. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly endPosition: string | null;
  /** Exact number of matches across all pages. */
  readonly totalCount: number;
}

/** Cuts the one item that was asked for beyond the page, which only tells whether a next page exists. */
export function toPage<Item extends { readonly position: string }>(
  found: readonly Item[],
  size: number,
  totalCount: number,
): Page<Item> {
  const items = found.slice(0, size);
  const last = items[items.length - 1];
  return { items, endPosition: found.length > size && last ? last.position : null, totalCount };
}
