import type { AssetId, Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Computer } from './computer';
import type { ComputerFilter } from './computer-filter';

/**
 * The visible computers of a workspace, monitored or not. Read-only: they change through the inventory. Reads show the
 * newest data unless `freshness` allows older.
 */
export abstract class ComputerDirectory {
  /** Returns one page of the matches in a stable order. `totalCount` and the items come from one snapshot. */
  abstract list(
    workspaceId: WorkspaceId,
    filter: ComputerFilter,
    page: PageRequest,
    freshness?: Freshness,
  ): Promise<Page<Computer>>;

  /** @throws `not_found` when the workspace has no visible computer with this id */
  abstract get(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness): Promise<Computer>;
}
