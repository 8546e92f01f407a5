import { InputFaults, assetId, isUuid } from '#libs/kernel';
import { BodyReader, type JsonBody, type ThreeState } from '#libs/platform/http';
import { CLASSIFICATIONS } from '../domain/asset';
import type { AssetPatch } from '../domain/asset-patch';
import type { BulkUpdate, BulkUpdateSummary } from '../domain/bulk-update';
import type { BulkUpdateSummaryDto } from './asset-patch.dto';

const WRITABLE = ['classification', 'description', 'ownerId', 'tags'] as const;
/** Members that responses contain, and that clients may try to send back. */
const READABLE = [
  ...([
    'id',
    'name',
    'categoryKey',
    'type',
    'completeStatus',
    'ownerSource',
    'externalId',
    'source',
    'createdAt',
    'updatedAt',
  ] as const),
  ...(['lastCheckedAt', 'dataStored', 'accountId', 'region', 'serialNumber', 'osVersion', 'email'] as const),
];
const MAX_DESCRIPTION = 500;
const MAX_TAG_KEY = 1000;
const MAX_TAG_VALUE = 255;
const MAX_TAGS = 20;
const MAX_IDS = 100;

/** Reads the body of a single update. @throws `validation_failed` with every invalid member */
export function readAssetPatch(body: JsonBody): AssetPatch {
  const faults = new InputFaults();
  const reader = BodyReader.of(body.value, [], faults);
  const patch = readFields(reader, body);
  const tags = readTags(reader);
  faults.throwAny();
  const wanted = tags === null && clearsByNull(body) ? [] : tags;
  return wanted ? { tags: wanted, ...patch } : patch;
}

/** Reads the body of a bulk update. @throws `validation_failed` with every invalid member */
export function readBulkUpdate(body: JsonBody): BulkUpdate {
  const faults = new InputFaults();
  const reader = BodyReader.of(body.value, [], faults);
  reader.allowOnly(['ids', 'patch', 'dryRun']);
  const isDryRun = reader.boolean('dryRun') ?? false;
  const ids = reader.array('ids', { min: 1, max: MAX_IDS });
  for (const name of ['ids', 'patch']) reader.require(name);
  for (const [index, id] of (ids ?? []).entries()) {
    if (typeof id === 'string' && isUuid(id)) continue;
    faults.addMember(['ids', index], 'format', 'is no UUID.');
  }
  const sent = reader.raw('patch');
  const patchReader = BodyReader.of(sent ?? {}, ['patch'], faults);
  const patch = readFields(patchReader, body);
  if (patchReader.raw('tags') != null) patchReader.refuse('tags', 'readonly', 'cannot be updated in bulk.');
  faults.throwAny();
  return { ids: [...new Set((ids ?? []).map((id) => assetId(id as string)))], patch, isDryRun };
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

function readFields(reader: BodyReader, body: JsonBody): AssetPatch {
  reader.allowOnly(WRITABLE, READABLE);
  const set = <Value>(value: ThreeState<Value>) => (value === null && !clearsByNull(body) ? undefined : value);
  const classification = set(reader.choice('classification', CLASSIFICATIONS));
  const description = set(reader.text('description', MAX_DESCRIPTION));
  const ownerId = set(reader.uuid('ownerId'));
  return {
    classification,
    description: description === undefined ? undefined : description || null,
    ownerId: ownerId == null ? ownerId : assetId(ownerId),
  };
}

/** The keys as sent. */
function readTags(reader: BodyReader): ThreeState<readonly string[]> {
  const tags = reader.objects('tags', { min: 0, max: MAX_TAGS });
  if (tags === undefined || tags === null) return tags;
  return tags.map((tag) => {
    tag.allowOnly(['key', 'value', 'readOnly']);
    tag.text('value', MAX_TAG_VALUE);
    tag.boolean('readOnly');
    tag.require('key');
    return tag.text('key', MAX_TAG_KEY) ?? '';
  });
}
