import type { AssetId, Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Computer } from './computer';

/**
 * The visible computers of a workspace, monitored or not. Read-only: they change through the inventory. As they are now,
 * unless an earlier state is fresh enough.
 */
export abstract class ComputerDirectory {
  /** One page, in an order that never changes; `totalCount` is of the same moment as the items. */
  abstract list(workspaceId: WorkspaceId, page: PageRequest, freshness?: Freshness): Promise<Page<Computer>>;

  /** Null when the workspace has no visible computer of this id. */
  abstract find(workspaceId: WorkspaceId, id: AssetId, freshness?: Freshness): Promise<Computer | null>;
}
