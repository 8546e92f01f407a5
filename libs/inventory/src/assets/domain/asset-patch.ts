import type { AssetId, Tag } from '#libs/kernel';
import type { Asset, Classification } from './asset';
import type { AssetChange, FieldChange } from '#libs/audit';
import { byCodePoints } from '../../tag-keys/domain/tag-key';

/**
 * The governance fields of an update. An absent field stays unchanged and null clears it. A cleared classification
 * reads UNKNOWN.
 */
export interface AssetPatch {
  readonly classification?: Classification | null;
  readonly description?: string | null;
  readonly ownerId?: AssetId | null;
  /** Keys as sent. They replace the asset's customer tags; platform tags stay. */
  readonly tags?: readonly string[];
}

export type PatchField = keyof AssetPatch;

/** Returns the members of the patch that changed the asset. An owner with a new source counts as a new owner. */
export function patchFieldsOf({ fields }: AssetChange): PatchField[] {
  const changed = Object.keys(fields).map((field) => (field === 'ownerSource' ? 'ownerId' : field));
  return [...new Set(changed as PatchField[])];
}

/** One patch for many assets. */
export interface BulkUpdate {
  /** As sent: one that is given twice counts once. */
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

/** A patched asset and its changes. `change` is null when nothing changed. */
export interface PatchedAsset {
  readonly asset: Asset;
  readonly change: AssetChange | null;
}

/** Applies a patch to one asset. `wanted` holds the tags for the patch's keys, `now` becomes the time of the update. */
export function applyPatch(asset: Asset, patch: AssetPatch, wanted: readonly Tag[], now: Date): PatchedAsset {
  const { classification, description, ownerId, tags } = patch;
  const patched: Asset = {
    ...asset,
    ...(classification === undefined ? {} : { classification: classification ?? 'UNKNOWN' }),
    ...(description === undefined ? {} : { description: description || null }),
    // Replaces the earlier source: an owner set through the API reads API.
    ...(ownerId === undefined ? {} : { ownerId, ownerSource: ownerId === null ? null : 'API' }),
    ...(tags === undefined ? {} : { tags: withCustomerTags(asset.tags, wanted) }),
  };
  const fields = changedFields(asset, patched);
  if (Object.keys(fields).length === 0) return { asset, change: null };
  // A clock that was set back never makes an update older than the one before.
  const updatedAt = now > asset.updatedAt ? now : asset.updatedAt;
  return { asset: { ...patched, updatedAt, version: asset.version + 1 }, change: { assetId: asset.id, fields } };
}

function withCustomerTags(tags: readonly Tag[], wanted: readonly Tag[]): Tag[] {
  const platform = tags.filter(({ readOnly }) => readOnly);
  return [...platform, ...wanted].sort((first, second) => byCodePoints(first.key, second.key));
}

function changedFields(before: Asset, after: Asset): Record<string, FieldChange> {
  const fields: Record<string, FieldChange> = {};
  for (const field of ['classification', 'description', 'ownerId', 'ownerSource'] as const) {
    if (before[field] !== after[field]) fields[field] = { old: before[field], new: after[field] };
  }
  if (JSON.stringify(before.tags.map(entriesOf)) !== JSON.stringify(after.tags.map(entriesOf))) {
    fields['tags'] = { old: before.tags, new: after.tags };
  }
  return fields;
}

const entriesOf = ({ key, value, readOnly }: Tag) => [key, value, readOnly];
