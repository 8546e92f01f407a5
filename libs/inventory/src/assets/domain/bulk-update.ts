import type { AssetId } from '#libs/kernel';
import type { AssetPatch } from './asset-patch';

/** One patch for many assets. */
export interface BulkUpdate {
  /** Without duplicates. */
  readonly ids: readonly AssetId[];
  /** Without tags. */
  readonly patch: AssetPatch;
}

export interface BulkUpdateSummary {
  /** Number of existing assets, to which the patch was applied. */
  readonly updated: number;
  /** The other ids: unknown, hidden, deleted or another workspace's. */
  readonly notFound: readonly AssetId[];
}
