import type { AssetId, Place } from '#libs/kernel';
import type { Asset, Classification } from './asset';
import type { PatchField, SentPatch } from './asset-patch';

/** Updates of up to 100 assets: all with one patch, or each with its own. */
export interface BulkUpdate {
  /** As sent. An id that is given twice counts once. */
  readonly updates: readonly SentUpdate[];
  /** An asset that does not match when it is locked stays as it is. */
  readonly onlyIf: Condition;
  /** True checks everything and writes nothing. */
  readonly isDryRun: boolean;
}

/** One asset, its patch, and where both stand in the request. */
export interface SentUpdate {
  readonly id: AssetId;
  readonly idAt: Place;
  /** The same object where several assets share it. */
  readonly patch: SentPatch;
  readonly patchAt: Place;
  /** The asset with another version is not changed. Forms of the console name it, clients never. */
  readonly version?: number;
}

/** Conditions on the asset before a change. An absent member sets none. */
export interface Condition {
  readonly hasOwner?: boolean | null;
  readonly hasDescription?: boolean | null;
  readonly classification?: Classification | null;
}

export const isMet = ({ hasOwner, hasDescription, classification }: Condition, asset: Asset): boolean =>
  (hasOwner ?? asset.ownerId !== null) === (asset.ownerId !== null) &&
  (hasDescription ?? asset.description !== null) === (asset.description !== null) &&
  (classification ?? asset.classification) === asset.classification;

export interface BulkUpdateSummary {
  /** Number of assets to which their patch was applied. */
  readonly updated: number;
  /** The other ids, in the order of the request. */
  readonly failures: readonly FailedUpdate[];
  /** The assets that a dry run would change; null when it was none. */
  readonly changes: readonly WouldChange[] | null;
}

export interface FailedUpdate {
  readonly id: AssetId;
  /** `not_found`: unknown, hidden, deleted or another workspace's. `condition_failed`: `onlyIf` or the version did not match. */
  readonly code: 'not_found' | 'condition_failed';
}

/** An asset that a dry run would change. */
interface WouldChange {
  readonly id: AssetId;
  /** The members of the patch that make the difference. */
  readonly fields: readonly PatchField[];
}
