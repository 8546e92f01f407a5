import { DAY_MS, MAX_EXTERNAL_ID_BYTES, isExternalId } from '#libs/kernel';
import {
  ASSET_TYPES,
  type AssetType,
  CATEGORY_KEYS,
  type CategoryKey,
  categoryOf,
} from '../../assets/domain/asset-category';
import { CLASSIFICATIONS, MAX_DESCRIPTION_LENGTH } from '../../assets/domain/asset';
import { MAX_LINE_BYTES } from './import-files.port';
import { RecordReader } from './record-reader';
import { isNever } from './import-time';

export const VISIBILITIES = ['ACTIVE', 'HIDDEN', 'DELETED'] as const;

/** A validated record of an import. */
export type ImportRecord = Readonly<ReturnType<typeof readRecord>>;

export interface ParsedRecord {
  /** Null when it has no valid one. */
  readonly externalId: string | null;
  /** Null when there are reasons against it. */
  readonly record: ImportRecord | null;
  readonly reasons: readonly string[];
  /** What was left out or mended. */
  readonly warnings: readonly string[];
}

const EVERY_RECORD = [
  ...['id', 'categoryKey', 'type', 'externalId', 'name', 'visibility', 'classification', 'description'],
  ...['owner', 'ownerId', 'ownerEmail', 'tags', 'createdAt', 'lastCheckedAt'],
];
const membersWith = (...own: string[]): ReadonlySet<string> => new Set([...EVERY_RECORD, ...own]);
const MEMBERS: Readonly<Record<CategoryKey, ReadonlySet<string>>> = {
  CLOUD: membersWith('accountId', 'region'),
  COMPUTER: membersWith('serialNumber', 'operatingSystem', 'osVersion', 'managed', 'compliance'),
  CUSTOM: membersWith('dataStored'),
  INFORMATION: membersWith('dataStored'),
  EMPLOYEE: membersWith('email'),
};
const MEMBERS_OF_ANY: ReadonlySet<string> = new Set(Object.values(MEMBERS).flatMap((members) => [...members]));
const COMPLIANCE_MEMBERS: ReadonlySet<string> = new Set([
  'agentVersion',
  'antivirusInstalled',
  'diskEncryptionEnabled',
  'passwordManagerInstalled',
  'screenLockEnabled',
]);
const DATA_STORED_MEMBERS: ReadonlySet<string> = new Set(['containsPatientData', 'containsUserData', 'userDataInfo']);
/** Every member of records by its path, as the columns of CSV and maps name it. */
export const MEMBER_PATHS: ReadonlySet<string> = new Set([
  ...[...MEMBERS_OF_ANY].filter((name) => !['compliance', 'dataStored'].includes(name)),
  ...[...COMPLIANCE_MEMBERS].map((name) => `compliance.${name}`),
  ...[...DATA_STORED_MEMBERS].map((name) => `dataStored.${name}`),
]);
/** Tells whether a map gives records of the category this member. Only CLOUD needs a type: others have one each. */
export const isMappedMember = (category: CategoryKey, name: string): boolean =>
  name === 'type' ? category === 'CLOUD' : MEMBERS[category].has(name);
const TAG_MEMBERS: ReadonlySet<string> = new Set(['key', 'value', 'readOnly']);
const MAX_NAME = 1000;
const MAX_TEXT = 2000;

/** Validates one record. Reports up to twenty faults, not just the first. */
export function parseImportRecord(value: unknown): ParsedRecord {
  const root = RecordReader.of(value);
  if (!root) return { externalId: null, record: null, reasons: ['The record is not an object.'], warnings: [] };
  const externalId = root.exactText('externalId');
  const categoryKey = root.choice('categoryKey', CATEGORY_KEYS);
  const name = root.text('name', MAX_NAME);
  root.require('externalId', externalId);
  root.require('categoryKey', categoryKey);
  root.require('name', name);
  if (externalId !== null && Buffer.byteLength(externalId) > MAX_EXTERNAL_ID_BYTES) {
    root.refuse(`externalId is longer than ${MAX_EXTERNAL_ID_BYTES} bytes.`);
  }
  root.allowOnly(categoryKey ? MEMBERS[categoryKey] : MEMBERS_OF_ANY, categoryKey);
  const record = readRecord(root, categoryKey, externalId ?? '', name ?? '');
  const { reasons, warnings } = root;
  if (reasons.length === 0) return { externalId, record, reasons, warnings };
  return { externalId: isExternalId(externalId) ? externalId : null, record: null, reasons, warnings: [] };
}

/** Null means unknown. Members of other categories are null. */
function readRecord(root: RecordReader, categoryKey: CategoryKey | null, externalId: string, name: string) {
  const optional = (label: string, reader = root): string | null => reader.text(label, MAX_TEXT) || null;
  const compliance = root.object('compliance');
  const dataStored = root.object('dataStored');
  compliance.allowOnly(COMPLIANCE_MEMBERS);
  dataStored.allowOnly(DATA_STORED_MEMBERS);
  return {
    id: root.uuid('id'),
    externalId,
    type: readType(root, categoryKey),
    visibility: root.choice('visibility', VISIBILITIES) ?? 'ACTIVE',
    name,
    classification: root.choice('classification', CLASSIFICATIONS) ?? 'UNKNOWN',
    description: root.text('description', MAX_DESCRIPTION_LENGTH) || null,
    ...readOwners(root),
    tags: readTags(root),
    /** Null stands for the time of the first import. */
    createdAt: readCreatedAt(root),
    lastCheckedAt: readLastCheckedAt(root),
    accountId: optional('accountId'),
    region: optional('region'),
    serialNumber: optional('serialNumber')?.trim() || null,
    operatingSystem: optional('operatingSystem'),
    osVersion: optional('osVersion'),
    email: root.wholeText('email', MAX_TEXT) || null,
    dataStored: {
      containsPatientData: dataStored.boolean('containsPatientData'),
      containsUserData: dataStored.boolean('containsUserData'),
      userDataInfo: optional('userDataInfo', dataStored),
    },
    managed: root.boolean('managed'),
    compliance: {
      agentVersion: optional('agentVersion', compliance),
      antivirusInstalled: compliance.boolean('antivirusInstalled'),
      diskEncryptionEnabled: compliance.boolean('diskEncryptionEnabled'),
      passwordManagerInstalled: compliance.boolean('passwordManagerInstalled'),
      screenLockEnabled: compliance.boolean('screenLockEnabled'),
    },
  };
}

function readType(root: RecordReader, categoryKey: CategoryKey | null): AssetType {
  const type = root.choice('type', ASSET_TYPES);
  if (categoryKey === null) return type ?? 'CUSTOM';
  if (type === null) {
    if (categoryKey !== 'CLOUD') return categoryKey;
    root.refuse('type is required for CLOUD and must be one of the CLOUD_… types.');
    return 'CLOUD_OTHER';
  }
  if (categoryOf(type) !== categoryKey) root.refuse(`type ${type} does not belong to categoryKey ${categoryKey}.`);
  return type;
}

/**
 * The employee by public id, by external id in the same source, or by an e-mail address where neither is given. A reference
 * has no limit: a long one names nobody, which is a warning.
 */
function readOwners(root: RecordReader) {
  const ownerId = root.uuid('ownerId');
  const owner = root.storableText('owner') || null;
  const ownerEmail = root.storableText('ownerEmail')?.trim() || null;
  return { ownerId, owner, ownerEmail: ownerId === null && owner === null ? ownerEmail : null };
}

function readCreatedAt(root: RecordReader): Date | null {
  const time = root.time('createdAt');
  if (time !== 'never') return time;
  root.refuse('createdAt must be a date-time such as 2026-01-02T03:04:05Z.');
  return null;
}

function readLastCheckedAt(root: RecordReader): Date | null {
  const time = root.time('lastCheckedAt');
  if (time === null) return null;
  if (time === 'never' || isNever(time)) root.warn('lastCheckedAt stands for "never", and was left out.');
  else if (time.getTime() <= Date.now() + DAY_MS) return time;
  else root.warn('lastCheckedAt is more than 24 hours ahead, and was left out.');
  return null;
}

/** So few are shorter than a line, whatever they hold. */
const FEW_TAGS = 100;

function readTags(root: RecordReader): { readonly key: string; readonly value: string | null }[] {
  const tags = root.objects('tags');
  if (tags.length === 0) return [];
  const seen = new Map<string, { key: string; value: string | null }>();
  for (const tag of tags) {
    if (tag.isFull) break;
    tag.allowOnly(TAG_MEMBERS);
    tag.boolean('readOnly');
    const key = tag.identifier('key', 1000);
    const value = tag.text('value', 255);
    tag.require('key', key);
    if (!key) continue;
    const before = seen.get(key);
    if (before && (before.value ?? '') !== (value ?? ''))
      root.warn(`${tag.path}key stands before with another value; the last one counts.`);
    seen.set(key, { key, value });
  }
  const read = [...seen.values()];
  // A line of JSON holds no more. A row of CSV may: JSON has six characters for a control character.
  if (read.length > FEW_TAGS && JSON.stringify(read.map(({ key, value }) => [key, value])).length > MAX_LINE_BYTES)
    root.refuse(`tags are longer than ${MAX_LINE_BYTES} characters as JSON.`);
  return read;
}
