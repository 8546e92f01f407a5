import { assetId } from '#libs/kernel';
import type { JsonBody } from '#libs/platform/http';
import { readBodyAs } from '#libs/platform/openapi';
import type { AssetPatch, BulkUpdate, BulkUpdateSummary } from '../domain/asset-patch';
import {
  AssetMetadataPatchDto,
  type BulkPatchDto,
  BulkUpdateDto,
  type BulkUpdateSummaryDto,
  READABLE,
} from './asset-patch.dto';

/** Reads the body of a single update. @throws `validation_failed` with every invalid member */
export function readAssetPatch(body: JsonBody): AssetPatch {
  const { tags, ...fields } = readBodyAs(AssetMetadataPatchDto, body, READABLE);
  const wanted = tags === null && clearsByNull(body) ? [] : tags?.map(({ key }) => key);
  return { ...(wanted && { tags: wanted }), ...toPatch(fields, body) };
}

/** Reads the body of a bulk update. @throws `validation_failed` with every invalid member */
export function readBulkUpdate(body: JsonBody): BulkUpdate {
  const { ids, patch, dryRun } = readBodyAs(BulkUpdateDto, body);
  return { ids: [...new Set(ids.map(assetId))], patch: toPatch(patch, body), isDryRun: dryRun ?? false };
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
const clearsByNull = ({ mediaType }: JsonBody): boolean => mediaType === 'application/merge-patch+json';

function toPatch(sent: Omit<BulkPatchDto, 'tags'>, body: JsonBody): AssetPatch {
  const kept = Object.entries(sent).filter(([, value]) => value !== null || clearsByNull(body));
  const { description, ownerId, ...others } = Object.fromEntries(kept) as Omit<BulkPatchDto, 'tags'>;
  return {
    ...others,
    ...(description !== undefined && { description: description || null }),
    ...(ownerId !== undefined && { ownerId: ownerId === null ? null : assetId(ownerId) }),
  };
}
