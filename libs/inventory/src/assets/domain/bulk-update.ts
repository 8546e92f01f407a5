import type { AssetId } from '#libs/kernel';
import type { AssetPatch, PatchField } from './asset-patch';

/** One patch for many assets. */
export interface BulkUpdate {
  /** Without duplicates. */
  readonly ids: readonly AssetId[];
  /** Without tags. */
  readonly patch: AssetPatch;
  /** True checks everything and writes nothing. */
  readonly isDryRun: boolean;
}

export interface BulkUpdateSummary {
  /** Number of existing assets, to which the patch was applied. */
  readonly updated: number;
  /** The other ids: unknown, hidden, deleted or another workspace's. */
  readonly notFound: readonly AssetId[];
  /** The assets that a dry run would change; null when it was none. */
  readonly changes: readonly WouldChange[] | null;
}

/** An asset that a dry run would change. */
export interface WouldChange {
  readonly id: AssetId;
  /** The members of the patch that make the difference. */
  readonly fields: readonly PatchField[];
}
