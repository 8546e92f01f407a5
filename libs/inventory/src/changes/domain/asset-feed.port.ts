import type { AssetId, Change, ChangePage, FeedStart, Freshness, WorkspaceId } from '#libs/kernel';
import type { Asset } from '../../assets/domain/asset';
import type { CategoryKey } from '../../assets/domain/asset-category';

/** The change feed of assets. */
export abstract class AssetFeed {
  /**
   * The latest state of each asset, ordered by commit, from a start on. A reader who follows the positions misses no
   * committed change, and sees no older state of an asset after a newer one. An asset never changes its category.
   * @throws `cursor_expired` where that cannot be promised
   */
  abstract read(
    workspaceId: WorkspaceId,
    categoryKey: CategoryKey | undefined,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Change<AssetId, Asset>>>;
}
