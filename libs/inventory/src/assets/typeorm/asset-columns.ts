import { assetId } from '#libs/kernel';
import type { TextRow } from '#libs/platform/database';
import { type Asset, CLASSIFICATIONS, OWNER_SOURCES, type Tag } from '../domain/asset';
import { ASSET_TYPES } from '../domain/asset-category';
import type { AssetRow } from './asset.row';

/** The columns of an asset in row order, by meaning. */
const COLUMNS = {
  position: 'id',
  id: 'public_id',
  type: 'sub_key',
  name: 'name',
  classification: 'classification',
  description: 'description',
  ownerId: 'owner_id',
  ownerSource: 'owner_source',
  externalId: 'external_id',
  source: 'source',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  lastCheckedAt: 'last_checked_at',
  tags: 'tags',
  patientData: 'contains_patient_data',
  userData: 'contains_user_data',
  userDataInfo: 'user_data_info',
  accountId: 'account_id',
  region: 'region',
  serialNumber: 'serial_number',
  operatingSystem: 'operating_system',
  osVersion: 'os_version',
  email: 'email',
  version: 'version',
} as const satisfies Record<string, keyof AssetRow>;

const names = Object.values(COLUMNS);

/** Column names of the table. */
export const TABLE_COLUMNS = names.join(', ');

/** Columns as {@link toAsset} reads them, with times in milliseconds. */
export const ASSET_COLUMN_LIST = names.map((name) =>
  name.endsWith('_at') ? `(extract(epoch FROM ${name}) * 1000)::bigint` : name,
);
export const ASSET_COLUMNS = ASSET_COLUMN_LIST.join(', ');

/** Index of each column in a row of {@link ASSET_COLUMNS}. `next` is the first index after them. */
export const AT = Object.fromEntries(
  [...Object.keys(COLUMNS), 'next'].map((column, place) => [column, place]),
) as Record<keyof typeof COLUMNS | 'next', number>;

/**
 * Reads an asset from a row of {@link ASSET_COLUMNS}. Codes are small integers in the table (see the comments on its
 * columns).
 */
export function toAsset(row: TextRow): Asset {
  const type = ASSET_TYPES[Number(row[AT.type]) - 1];
  const classification = CLASSIFICATIONS[Number(row[AT.classification])];
  if (type === undefined || classification === undefined) throw new Error('An asset holds a code that is not known.');
  const ownerId = row[AT.ownerId];
  const ownerSource = row[AT.ownerSource];
  const lastCheckedAt = row[AT.lastCheckedAt];
  return {
    id: assetId(row[AT.id] as string),
    type,
    name: row[AT.name] as string,
    classification,
    description: row[AT.description] || null,
    ownerId: ownerId ? assetId(ownerId) : null,
    ownerSource: ownerSource ? (OWNER_SOURCES[Number(ownerSource) - 1] ?? null) : null,
    externalId: row[AT.externalId] as string,
    source: row[AT.source] as string,
    createdAt: new Date(Number(row[AT.createdAt])),
    updatedAt: new Date(Number(row[AT.updatedAt])),
    lastCheckedAt: lastCheckedAt ? new Date(Number(lastCheckedAt)) : null,
    tags: JSON.parse(row[AT.tags] as string) as Tag[],
    dataStored: toDataStored(row[AT.patientData], row[AT.userData], row[AT.userDataInfo]),
    accountId: row[AT.accountId] ?? null,
    region: row[AT.region] ?? null,
    serialNumber: row[AT.serialNumber] ?? null,
    operatingSystem: row[AT.operatingSystem] ?? null,
    osVersion: row[AT.osVersion] ?? null,
    email: row[AT.email] ?? null,
    version: Number(row[AT.version]),
  };
}

type Column = TextRow[number] | undefined;

/** Returns null when nothing is known. */
function toDataStored(patientData: Column, userData: Column, userDataInfo: Column): Asset['dataStored'] {
  if (patientData == null && userData == null && userDataInfo == null) return null;
  return {
    containsPatientData: toBoolean(patientData),
    containsUserData: toBoolean(userData),
    userDataInfo: userDataInfo ?? null,
  };
}

const toBoolean = (column: Column): boolean | null => (column == null ? null : column === 't');
