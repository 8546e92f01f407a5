import type { AssetId, Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import type { Asset } from './asset';
import type { AuditAnchor, ChangeAuthor } from '#libs/audit';
import type { AssetFilter } from './asset-filter';
import type { AssetPatch, PatchedAsset } from './asset-patch';
import type { TagKey } from '../../tag-keys/domain/tag-key';

/** Assets that are about to be patched, and what the patch refers to. */
export interface LockedAssets {
  /** Those of the wanted that are there, each once. */
  readonly assets: readonly Asset[];
  /** Whether the patch's owner is a visible employee of the workspace; true when it names none. */
  readonly ownerIsEmployee: boolean;
  /** Those of the patch's tag keys that the workspace has. */
  readonly tagKeys: readonly Omit<TagKey, 'createdAt'>[];
  /** What the audit of the change is anchored to. */
  readonly auditAnchor: AuditAnchor | null;
}

/** The visible assets of a workspace: hidden and deleted ones do not exist here. */
export abstract class AssetRepository {
  /**
   * One page of the assets that the filter lets through. The order never changes, whatever is done to an asset, so one
   * that exists throughout a walk is seen exactly once. `totalCount` is of the same moment as the items. As they are now,
   * unless an earlier state is fresh enough.
   */
  abstract list(
    workspaceId: WorkspaceId,
    filter: AssetFilter,
    page: PageRequest,
    freshness?: Freshness,
  ): Promise<Page<Asset>>;

  /** Null when the workspace has no visible asset of this id. As it is now, unless an earlier state is fresh enough. */
  abstract find(workspaceId: WorkspaceId, id: AssetId, freshness?: Freshness): Promise<Asset | null>;

  /**
   * The assets of these ids, which nobody else changes until the unit of work ends. Locks are taken in one order over
   * all assets, so that two updates never wait for each other in a circle.
   */
  abstract lock(workspaceId: WorkspaceId, ids: readonly AssetId[], patch: AssetPatch): Promise<LockedAssets>;

  /**
   * Writes what a patch made of locked assets, only the fields that it names, with one audit event for each that changed;
   * in the same unit of work. The fields it names are from now on kept by imports, also where nothing changed.
   */
  abstract update(
    workspaceId: WorkspaceId,
    patch: AssetPatch,
    patched: readonly PatchedAsset[],
    author: ChangeAuthor,
    auditAnchor: AuditAnchor | null,
  ): Promise<void>;
}
