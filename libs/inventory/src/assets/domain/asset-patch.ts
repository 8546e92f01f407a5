import type { AssetId } from '#libs/kernel';
import type { Asset, Classification, Tag } from './asset';
import type { AssetChange, FieldChange } from '#libs/audit';
import { byCodePoints } from '../../tag-keys/domain/tag-key';

/**
 * The governance fields that an update writes. An absent one stays as it is; null clears it, and a classification that is
 * cleared reads UNKNOWN.
 */
export interface AssetPatch {
  readonly classification?: Classification | null;
  readonly description?: string | null;
  readonly ownerId?: AssetId | null;
  /** Keys as they were sent. They are the wanted set: other customer tags come off, those of the platform stay. */
  readonly tags?: readonly string[];
}

/** An asset with a patch applied, and what that changed: null when nothing did. */
export interface PatchedAsset {
  readonly asset: Asset;
  readonly change: AssetChange | null;
}

/** Applies a patch to one asset; `wanted` are the tags that its keys stand for. */
export function applyPatch(asset: Asset, patch: AssetPatch, wanted: readonly Tag[]): PatchedAsset {
  const { classification, description, ownerId, tags } = patch;
  const patched: Asset = {
    ...asset,
    ...(classification === undefined ? {} : { classification: classification ?? 'UNKNOWN' }),
    ...(description === undefined ? {} : { description: description || null }),
    // Whoever set it before: an owner that is set through the API reads API.
    ...(ownerId === undefined ? {} : { ownerId, ownerSource: ownerId === null ? null : 'API' }),
    ...(tags === undefined ? {} : { tags: withCustomerTags(asset.tags, wanted) }),
  };
  const fields = changedFields(asset, patched);
  if (Object.keys(fields).length === 0) return { asset, change: null };
  return { asset: { ...patched, version: asset.version + 1 }, change: { assetId: asset.id, fields } };
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
