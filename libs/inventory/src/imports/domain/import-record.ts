import { isStorable, isUuid } from '#libs/kernel';
import {
  ASSET_TYPES,
  type AssetType,
  CATEGORY_KEYS,
  type CategoryKey,
  categoryOf,
} from '../../assets/domain/asset-category';
import { CLASSIFICATIONS } from '../../assets/domain/asset';
import { RecordReader } from './record-reader';

export const VISIBILITIES = ['ACTIVE', 'HIDDEN', 'DELETED'] as const;

/** The owner of an asset, named by the employee's external id in the same source or by public id. */
type OwnerReference = { readonly externalId: string } | { readonly id: string };

/** A validated record of an import. */
export type ImportRecord = Readonly<ReturnType<typeof readRecord>>;

export type ParsedRecord =
  | { readonly record: ImportRecord }
  /** `externalId` names the asset of a bad record. Null when the record has no valid one. */
  | { readonly reasons: readonly string[]; readonly externalId: string | null };

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
export const membersOf = (category: CategoryKey): ReadonlySet<string> => MEMBERS[category];
const TAG_MEMBERS: ReadonlySet<string> = new Set(['key', 'value', 'readOnly']);
const REQUIRED = ['externalId', 'categoryKey', 'name'];
const MAX_EXTERNAL_ID_BYTES = 2048;
const MAX_NAME = 1000;
const MAX_TEXT = 2000;

/** Validates one record. Reports up to twenty faults, not just the first. */
export function parseImportRecord(value: unknown): ParsedRecord {
  const root = RecordReader.of(value);
  if (!root) return { reasons: ['The record is not an object.'], externalId: null };
  const externalId = root.text('externalId', MAX_EXTERNAL_ID_BYTES);
  const categoryKey = root.choice('categoryKey', CATEGORY_KEYS);
  const name = root.text('name', MAX_NAME);
  for (const required of REQUIRED) root.require(required);
  if (externalId !== null && Buffer.byteLength(externalId) > MAX_EXTERNAL_ID_BYTES) {
    root.refuse(`externalId is longer than ${MAX_EXTERNAL_ID_BYTES} bytes.`);
  }
  root.allowOnly(categoryKey ? MEMBERS[categoryKey] : MEMBERS_OF_ANY, categoryKey);
  const record = readRecord(root, categoryKey, externalId ?? '', name ?? '');
  if (root.reasons.length === 0) return { record };
  return { reasons: root.reasons, externalId: isExternalId(externalId) ? externalId : null };
}

/** Null means unknown. Members of other categories are null. */
function readRecord(root: RecordReader, categoryKey: CategoryKey | null, externalId: string, name: string) {
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
    description: root.text('description', 500) || null,
    ...readOwners(root),
    tags: readTags(root),
    /** Null stands for the time of the first import. */
    createdAt: root.time('createdAt'),
    lastCheckedAt: root.time('lastCheckedAt'),
    accountId: root.text('accountId', MAX_TEXT),
    region: root.text('region', MAX_TEXT),
    serialNumber: root.text('serialNumber', MAX_TEXT),
    operatingSystem: root.text('operatingSystem', MAX_TEXT),
    osVersion: root.text('osVersion', MAX_TEXT),
    email: root.text('email', MAX_TEXT),
    dataStored: {
      containsPatientData: dataStored.boolean('containsPatientData'),
      containsUserData: dataStored.boolean('containsUserData'),
      userDataInfo: dataStored.text('userDataInfo', MAX_TEXT),
    },
    managed: root.boolean('managed'),
    compliance: {
      agentVersion: compliance.text('agentVersion', MAX_TEXT),
      antivirusInstalled: compliance.boolean('antivirusInstalled'),
      diskEncryptionEnabled: compliance.boolean('diskEncryptionEnabled'),
      passwordManagerInstalled: compliance.boolean('passwordManagerInstalled'),
      screenLockEnabled: compliance.boolean('screenLockEnabled'),
    },
  };
}

export const isExternalId = (text: string | null): text is string =>
  text !== null && text !== '' && isStorable(text) && Buffer.byteLength(text) <= MAX_EXTERNAL_ID_BYTES;

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

/** An e-mail address names the owner where no reference does. */
function readOwners(root: RecordReader): { readonly owner: OwnerReference | null; readonly ownerEmail: string | null } {
  const owner = readOwner(root);
  const ownerEmail = root.text('ownerEmail', MAX_TEXT)?.trim() || null;
  return { owner, ownerEmail: owner === null ? ownerEmail : null };
}

function readOwner(root: RecordReader): OwnerReference | null {
  const externalId = root.text('owner', MAX_EXTERNAL_ID_BYTES);
  const id = root.uuid('ownerId');
  if (externalId !== null && id !== null) root.refuse('owner and ownerId are both given; give one.');
  if (externalId !== null) return { externalId };
  return id !== null && isUuid(id) ? { id } : null;
}

function readTags(root: RecordReader): { readonly key: string; readonly value: string | null }[] {
  const tags = root.objects('tags');
  if (tags.length === 0) return [];
  const seen = new Map<string, { key: string; value: string | null }>();
  for (const tag of tags) {
    if (tag.isFull) break;
    tag.allowOnly(TAG_MEMBERS);
    tag.boolean('readOnly');
    tag.require('key');
    const key = tag.text('key', 1000);
    const value = tag.text('value', 255);
    if (key === '') tag.refuse(`${tag.path}key is empty.`);
    if (key) seen.set(key, { key, value });
  }
  return [...seen.values()];
}
