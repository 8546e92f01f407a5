import { assetId } from '#libs/kernel';
import type { JsonMediaType } from '#libs/platform/http';
import type { AssetPatch, BulkUpdate, BulkUpdateSummary } from '../domain/asset-patch';
import type { AssetMetadataPatchDto, BulkPatchDto, BulkUpdateDto, BulkUpdateSummaryDto } from './asset-patch.dto';

export function toAssetPatch({ tags, ...fields }: AssetMetadataPatchDto, mediaType: JsonMediaType): AssetPatch {
  const wanted = tags === null && clearsByNull(mediaType) ? [] : tags?.map(({ key }) => key);
  return { ...(wanted && { tags: wanted }), ...toGovernancePatch(fields, mediaType) };
}

export function toBulkUpdate({ ids, patch, dryRun }: BulkUpdateDto, mediaType: JsonMediaType): BulkUpdate {
  return { ids: ids.map(assetId), patch: toGovernancePatch(patch, mediaType), isDryRun: dryRun ?? false };
}

export function toBulkUpdateSummaryDto({ updated, notFound, changes }: BulkUpdateSummary): BulkUpdateSummaryDto {
  return {
    successfulUpdates: updated,
    failedUpdates: notFound.length,
    failures: notFound.map((id) => ({ id, code: 'not_found', detail: 'No asset has this id.' })),
    ...(changes === null ? {} : { changes }),
  };
}

/** In a merge patch (RFC 7396) null removes. In plain JSON many client libraries send null for unset members. */
const clearsByNull = (mediaType: JsonMediaType): boolean => mediaType === 'application/merge-patch+json';

function toGovernancePatch({ tags: _, ...fields }: BulkPatchDto, mediaType: JsonMediaType): AssetPatch {
  const isSent = ([, value]: [string, unknown]): boolean =>
    value !== undefined && (value !== null || clearsByNull(mediaType));
  const { description, ...sent } = Object.fromEntries(Object.entries(fields).filter(isSent)) as AssetPatch;
  return { ...sent, ...(description !== undefined && { description: description || null }) };
}
