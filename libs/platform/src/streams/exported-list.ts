import type { Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { ListFilters } from '../pagination/cursors';

/** A list that clients may read as one stream. */
export interface ExportedList<Item> {
  /** The same name as for pages. Cursors, metrics and the log use it. */
  readonly resource: string;
  /** The `type` of a line with an item, and its other member. */
  readonly item: string;
  /**
   * Gives the function that reads pages of the list, as it is now.
   * @throws `validation_failed` for filters that contradict each other
   */
  reader(workspaceId: WorkspaceId, filters: ListFilters): (page: PageRequest) => Promise<Page<Item>>;
  /** The item as clients see it. */
  show(item: Item): object;
  /**
   * The feed that goes on where a stream ends: the name in its cursors, and the filters that it knows. Null for a list that
   * only grows at its end: its stream has no start line, and its last checkpoint goes on.
   */
  readonly feed: { readonly resource: string; readonly filters: readonly string[] } | null;
}
