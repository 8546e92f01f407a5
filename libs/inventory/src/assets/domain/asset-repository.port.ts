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
import type { Asset } from './asset';
import type { ChangeAuthor } from '#libs/audit';
import type { CategoryKey } from './asset-category';
import type { AssetFilter } from './asset-filter';
import type { KnownNames, PatchedAsset } from './asset-patch';
import type { SentUpdate } from './bulk-update';

export type AssetUpdate = Pick<SentUpdate, 'id' | 'patch'>;

/** Locked assets, and what of the names in the patches exists. */
export interface LockedAssets extends KnownNames {
  /** The requested assets that exist, each once. Of several, those whose patch has no tags come without their own. */
  readonly assets: readonly Asset[];
  /** A time at which the locks were held. */
  readonly lockedAt: Date;
}

/** An employee as people tell them apart. */
export interface FoundEmployee {
  readonly id: AssetId;
  readonly name: string;
  readonly email: string | null;
}

export interface FoundEmployees {
  readonly found: readonly FoundEmployee[];
  /** True when there are more than {@link MOST_SEARCHED}, and only these were looked at. */
  readonly partly: boolean;
}

/** The most employees that {@link AssetRepository.employeesWith} looks at. */
export const MOST_SEARCHED = 100_000;

/** The visible assets of a workspace. Hidden and deleted ones count as absent. */
export abstract class AssetRepository {
  /**
   * Returns one page of the assets that match the filter. The order never changes, whatever happens to an asset, so
   * each existing asset is seen exactly once. `totalCount` and the items come from one snapshot.
   */
  abstract list(scope: ReadScope, filter: AssetFilter, page: PageRequest, expand?: Expand): Promise<Page<Asset>>;

  /** Returns at most `limit` employees who have the text in their name or e-mail address, in any letter case. */
  abstract employeesWith(scope: ReadScope, text: string, limit: number): Promise<FoundEmployees>;

  /**
   * Returns the function that reads a whole list page by page, always as it is now. It counts the matches once. Given an
   * instant, the function reads the assets of a category, or all, as they were then, and counts none.
   */
  abstract reader(
    workspaceId: WorkspaceId,
    filter: AssetFilter,
    request?: Partial<ThenRequest>,
  ): Promise<(page: PageRequest) => Promise<Page<Asset>>>;

  /**
   * The asset now, or as a read at an instant showed it, also if it is hidden now. Returns null when the workspace has, or
   * had then, no visible asset with this id.
   * @throws `validation_failed` for an instant before the history or after now
   */
  abstract find(scope: ReadScope, id: AssetId, request?: Partial<ThenRequest>): Promise<Asset | null>;

  /** The states of one asset, newest first. Null for an id of which no state was ever visible. */
  abstract history(scope: ReadScope, id: AssetId, page: PageRequest): Promise<Page<HistoryEntry<Asset>> | null>;

  /**
   * The latest state of each asset, ordered by commit, from a start on. A reader who follows the positions misses no
   * committed change, and sees no older state of an asset after a newer one. An asset never changes its category.
   * @throws `cursor_expired` where that cannot be promised
   */
  abstract changes(
    scope: ReadScope,
    categoryKey: CategoryKey | undefined,
    start: FeedStart,
    size: number,
  ): Promise<ChangePage<Change<AssetId, Asset>>>;

  /**
   * Locks the assets of updates until the unit of work ends. All updates lock in the same order, so they cannot deadlock.
   * @throws `payload_too_large` when the assets hold more than about 10 MB
   */
  abstract lock(workspaceId: WorkspaceId, updates: readonly AssetUpdate[]): Promise<LockedAssets>;

  /**
   * Writes the patched fields of locked assets in the same unit of work, with one audit event for each changed asset.
   * From then on imports keep these fields, changed or not.
   */
  abstract update(workspaceId: WorkspaceId, patched: readonly PatchedAsset[], author: ChangeAuthor): Promise<void>;
}
