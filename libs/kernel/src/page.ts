/** The start of a page: `after` is the position of the previous page's last item, null for the first page. */
export interface PageRequest {
  readonly size: number;
  readonly after: string | null;
  /** The page ends with the item that reaches so many bytes, and more may follow. */
  readonly mostBytes?: number;
}

/** One page of a list. `endPosition` is the position of its last item, null on the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The position of the last item also on the last page; null when there are no items. */
  readonly lastPosition: string | null;
  readonly endPosition: string | null;
  /** Exact number of matches across all pages. */
  readonly totalCount: number;
}

/** Drops the extra item that was read only to learn whether a next page exists. */
export function toPage<Item>(
  found: readonly Item[],
  size: number,
  totalCount: number,
  positionOf: (item: Item) => string,
): Page<Item> {
  const items = found.slice(0, size);
  const [last] = items.slice(-1);
  const lastPosition = last === undefined ? null : positionOf(last);
  return { items, lastPosition, endPosition: found.length > size ? lastPosition : null, totalCount };
}
