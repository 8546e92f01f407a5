import { type AssetId, type InputFaults, type Place, type Tag, shown } from '#libs/kernel';
import type { Asset, Classification, OwnerSource } from './asset';
import type { AssetChange, FieldChange } from '#libs/audit';
import { type TagKey, byCodePoints } from '../../tag-keys/domain/tag-key';

/**
 * The governance fields of an update. An absent field stays unchanged and null clears it. A cleared classification
 * reads UNKNOWN.
 */
export interface AssetPatch {
  readonly classification?: Classification | null;
  readonly description?: string | null;
  readonly ownerId?: AssetId | null;
  /** They replace the asset's customer tags; platform tags stay. */
  readonly tags?: readonly Tag[];
}

export type PatchField = keyof AssetPatch;

/** A patch as it was sent. It names its owner and its tags. */
export interface SentPatch extends Omit<AssetPatch, 'tags'> {
  /** Instead of `ownerId`, without white space around it. */
  readonly ownerEmail?: string;
  /** Keys as sent. */
  readonly tags?: readonly string[];
}

/** Names in patches that exist in the workspace. */
export interface KnownNames {
  /** Those of the patches' owners that are visible employees. */
  readonly employees: ReadonlySet<AssetId>;
  /** The visible employees of each address, two at most. */
  readonly byEmail: ReadonlyMap<string, readonly AssetId[]>;
  readonly tagKeys: ReadonlyMap<string, Omit<TagKey, 'createdAt'>>;
}

/** Finds the owner and the tags that a patch names. Adds a fault for each that cannot be set. */
export function findNamed(
  { ownerEmail, tags, ...fields }: SentPatch,
  known: KnownNames,
  place: Place,
  faults: InputFaults,
): AssetPatch {
  if (fields.ownerId && !known.employees.has(fields.ownerId)) {
    faults.addMember([...place, 'ownerId'], 'unknown', 'is not a visible employee of the workspace.');
  }
  const [ownerId, ...others] = (ownerEmail !== undefined && known.byEmail.get(ownerEmail)) || [];
  if (ownerEmail !== undefined && !ownerId) {
    faults.addMember([...place, 'ownerEmail'], 'unknown', 'is of no visible employee of the workspace.');
  } else if (others.length > 0) {
    faults.addMember([...place, 'ownerEmail'], 'ambiguous', 'is of several visible employees of the workspace.');
  }
  const wanted = new Map<string, Tag>();
  for (const [index, key] of (tags ?? []).entries()) {
    const tagKey = known.tagKeys.get(key);
    if (tagKey && !tagKey.platform) wanted.set(key, { key, value: tagKey.value ?? '', readOnly: false });
    else {
      const [code, what] = tagKey
        ? ['readonly', 'is a tag key of the platform.']
        : ['unknown', 'is no tag key of the workspace.'];
      faults.addMember([...place, 'tags', index, 'key'], code, what, shown(key));
    }
  }
  return { ...fields, ...(ownerId && { ownerId }), ...(tags && { tags: [...wanted.values()] }) };
}

/** Returns the members of the patch that changed the asset. An owner with a new source counts as a new owner. */
export function patchFieldsOf({ fields }: AssetChange): PatchField[] {
  const changed = Object.keys(fields).map((field) => (field === 'ownerSource' ? 'ownerId' : field));
  return [...new Set(changed as PatchField[])];
}

/** A patched asset and its changes. `change` is null when nothing changed. */
export interface PatchedAsset {
  readonly asset: Asset;
  readonly patch: AssetPatch;
  readonly change: AssetChange | null;
}

/** Applies a patch to one asset. `now` becomes the time of the update, and an owner was set by `setBy`. */
export function applyPatch(asset: Asset, patch: AssetPatch, now: Date, setBy: OwnerSource): PatchedAsset {
  const { classification, description, ownerId, tags } = patch;
  const patched: Asset = {
    ...asset,
    ...(classification === undefined ? {} : { classification: classification ?? 'UNKNOWN' }),
    ...(description === undefined ? {} : { description: description || null }),
    // Replaces the earlier source: an owner set through the API reads API, one set in the console MANUAL.
    ...(ownerId === undefined ? {} : { ownerId, ownerSource: ownerId === null ? null : setBy }),
    ...(tags === undefined ? {} : { tags: withCustomerTags(asset.tags, tags) }),
  };
  const fields = changedFields(asset, patched);
  if (Object.keys(fields).length === 0) return { asset, patch, change: null };
  // A clock that was set back never makes an update older than the one before.
  const updatedAt = now > asset.updatedAt ? now : asset.updatedAt;
  return { asset: { ...patched, updatedAt, version: asset.version + 1 }, patch, change: { assetId: asset.id, fields } };
}

/** Without the platform's tags: no patch changes them, and they may have megabytes. */
export const customerTags = ({ tags }: Asset): Tag[] => tags.filter(({ readOnly }) => !readOnly);

function withCustomerTags(tags: readonly Tag[], wanted: readonly Tag[]): Tag[] {
  const platform = tags.filter(({ readOnly }) => readOnly);
  return [...platform, ...wanted].sort((first, second) => byCodePoints(first.key, second.key));
}

function changedFields(before: Asset, after: Asset): Record<string, FieldChange> {
  const fields: Record<string, FieldChange> = {};
  for (const field of ['classification', 'description', 'ownerId', 'ownerSource'] as const) {
    if (before[field] !== after[field]) fields[field] = { old: before[field], new: after[field] };
  }
  if (shownTags(before) !== shownTags(after)) {
    fields['tags'] = { old: before.tags, new: after.tags };
  }
  return fields;
}

const shownTags = (asset: Asset): string => JSON.stringify(customerTags(asset).map(({ key, value }) => [key, value]));
