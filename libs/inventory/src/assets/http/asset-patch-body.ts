import { type AssetId, InputFaults, type Place, assetId } from '#libs/kernel';
import { type JsonMediaType, sentMembers } from '#libs/platform/http';
import type { SentPatch } from '../domain/asset-patch';
import type { BulkUpdate, BulkUpdateSummary, FailedUpdate, SentUpdate } from '../domain/bulk-update';
import type { AssetMetadataPatchDto } from './asset-patch.dto';
import type { BulkEntryDto, BulkUpdateDto, BulkUpdateSummaryDto } from './bulk-update.dto';

/** @throws `validation_failed` when two members name the owner */
export function toAssetPatch(body: AssetMetadataPatchDto, mediaType: JsonMediaType): SentPatch {
  const faults = new InputFaults();
  const patch = toPatch(body, mediaType, [], faults);
  faults.throwAny();
  return patch;
}

/** @throws `validation_failed` when two members name an owner, and when two entries name an asset */
export function toBulkUpdate(body: BulkUpdateDto, mediaType: JsonMediaType): BulkUpdate {
  const faults = new InputFaults();
  const updates = body.updates ? toUpdates(body.updates, mediaType, faults) : toEqualUpdates(body, mediaType, faults);
  faults.throwAny();
  return { updates, onlyIf: body.onlyIf ?? {}, isDryRun: body.dryRun ?? false };
}

const DETAILS: Readonly<Record<FailedUpdate['code'], string>> = {
  not_found: 'No asset has this id.',
  condition_failed: 'The asset does not match onlyIf.',
};

export function toBulkUpdateSummaryDto({ updated, failures, changes }: BulkUpdateSummary): BulkUpdateSummaryDto {
  return {
    successfulUpdates: updated,
    failedUpdates: failures.length,
    failures: failures.map(({ id, code }) => ({ id, code, detail: DETAILS[code] })),
    ...(changes === null ? {} : { changes }),
  };
}

function toUpdates(entries: readonly BulkEntryDto[], mediaType: JsonMediaType, faults: InputFaults): SentUpdate[] {
  const seen = new Set<AssetId>();
  return entries.map((entry, index) => {
    const [id, idAt, patchAt] = [assetId(entry.id), ['updates', index, 'id'], ['updates', index, 'patch']];
    if (seen.has(id)) faults.addMember(idAt, 'duplicated', 'is given more than once.');
    seen.add(id);
    return { id, idAt, patch: toPatch(entry.patch, mediaType, patchAt, faults), patchAt };
  });
}

function toEqualUpdates({ ids, patch }: BulkUpdateDto, mediaType: JsonMediaType, faults: InputFaults): SentUpdate[] {
  const patchAt = ['patch'];
  // A null of tags counts as absent here, in a merge patch too.
  const shared = toPatch({ ...patch, tags: undefined }, mediaType, patchAt, faults);
  return (ids ?? []).map((id, index) => ({ id: assetId(id), idAt: ['ids', index], patch: shared, patchAt }));
}

function toPatch(sent: AssetMetadataPatchDto, mediaType: JsonMediaType, place: Place, faults: InputFaults): SentPatch {
  const { ownerEmail, tags, ...others } = sentMembers(sent, mediaType);
  if (others.ownerId !== undefined && ownerEmail !== undefined) {
    faults.addMember([...place, 'ownerEmail'], 'format', 'and ownerId must not be sent together.');
  }
  return {
    ...(others as SentPatch),
    ...(ownerEmail !== undefined && (ownerEmail === null ? { ownerId: null } : { ownerEmail })),
    ...(tags !== undefined && { tags: (tags ?? []).map(({ key }) => key) }),
  };
}
