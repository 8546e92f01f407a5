import type { AssetId } from '#libs/kernel';
import type { AssetPatch } from './asset-patch';

/** One patch for many assets. */
export interface BulkUpdate {
  /** Each once. */
  readonly ids: readonly AssetId[];
  /** Without tags. */
  readonly patch: AssetPatch;
}

export interface BulkUpdateSummary {
  /** How many of the ids have an asset, which the patch was applied to. */
  readonly updated: number;
  /** The others: unknown, hidden, deleted or another workspace's. */
  readonly notFound: readonly AssetId[];
}
