import type { AssetId, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Asset } from './asset';
import type { AssetFilter } from './asset-filter';

/** The visible assets of a workspace: hidden and deleted ones do not exist here. */
export abstract class AssetRepository {
  /**
   * One page of the assets that the filter lets through. The order never changes, whatever is done to an asset, so one
   * that exists throughout a walk is seen exactly once. `totalCount` is of the same moment as the items.
   */
  abstract list(workspaceId: WorkspaceId, filter: AssetFilter, page: PageRequest): Promise<Page<Asset>>;

  /** Null when the workspace has no visible asset of this id. */
  abstract find(workspaceId: WorkspaceId, id: AssetId): Promise<Asset | null>;
}
