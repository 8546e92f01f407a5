import type {
  AssetId,
  Change,
  ChangePage,
  Expand,
  FeedStart,
  HistoryEntry,
  Page,
  PageRequest,
  ReadScope,
  ThenRequest,
  WorkspaceId,
} from '#libs/kernel';
import type { Computer } from './computer';
import type { ComputerFilter } from './computer-filter';

/** The visible computers of a workspace, monitored or not. Read-only: they change through the inventory. */
export abstract class ComputerDirectory {
  /** Returns one page of the matches in a stable order. `totalCount` and the items come from one snapshot. */
  abstract list(scope: ReadScope, filter: ComputerFilter, page: PageRequest, expand?: Expand): Promise<Page<Computer>>;

  /**
   * Returns the function that reads a whole list page by page, always as it is now. It counts the matches once. Given an
   * instant, the function reads all computers as they were then, and counts none.
   */
  abstract reader(
    workspaceId: WorkspaceId,
    filter: ComputerFilter,
    request?: Partial<ThenRequest>,
  ): Promise<(page: PageRequest) => Promise<Page<Computer>>>;

  /**
   * The computer now, or as a read at an instant showed it, also if it is hidden now.
   * @throws `not_found` when the workspace has, or had then, no visible computer with this id; `validation_failed` for an
   * instant before the history or after now
   */
  abstract get(scope: ReadScope, id: AssetId, request?: Partial<ThenRequest>): Promise<Computer>;

  /**
   * The latest state of each computer, ordered by commit, from a start on. It may also show a computer of which only the
   * asset changed. A reader who follows the positions misses no committed change.
   * @throws `cursor_expired` where that cannot be promised
   */
  abstract changes(scope: ReadScope, start: FeedStart, size: number): Promise<ChangePage<Change<AssetId, Computer>>>;

  /**
   * The states of one computer, newest first, hidden and deleted times included.
   * @throws `not_found` for an id of which no state was ever visible
   */
  abstract history(scope: ReadScope, id: AssetId, page: PageRequest): Promise<Page<HistoryEntry<Computer>>>;
}
