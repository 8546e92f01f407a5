import { assetId } from '#libs/kernel';
import type { TextRow } from '#libs/platform';
import { type Asset, CLASSIFICATIONS, OWNER_SOURCES, type Tag } from '../domain/asset';
import { ASSET_TYPES } from '../domain/asset-category';

/** The asset in a row of `ASSET_COLUMNS`. Codes are small integers in the table (see the comments on its columns). */
export function toAsset(row: TextRow): Asset {
  const type = ASSET_TYPES[Number(row[2]) - 1];
  const classification = CLASSIFICATIONS[Number(row[4])];
  if (type === undefined || classification === undefined) throw new Error('An asset holds a code that is not known.');
  return {
    id: assetId(row[1] as string),
    type,
    name: row[3] as string,
    classification,
    description: row[5] || null,
    ownerId: row[6] ? assetId(row[6]) : null,
    ownerSource: row[7] ? (OWNER_SOURCES[Number(row[7]) - 1] ?? null) : null,
    externalId: row[8] as string,
    createdAt: new Date(Number(row[9])),
    lastCheckedAt: row[10] ? new Date(Number(row[10])) : null,
    tags: JSON.parse(row[11] as string) as Tag[],
    dataStored: toDataStored(row[12], row[13], row[14]),
    accountId: row[15] ?? null,
    region: row[16] ?? null,
    serialNumber: row[17] ?? null,
    operatingSystem: row[18] ?? null,
    osVersion: row[19] ?? null,
    email: row[20] ?? null,
    version: Number(row[21]),
  };
}

type Column = TextRow[number] | undefined;

/** Null where nothing is known at all. */
function toDataStored(patientData: Column, userData: Column, userDataInfo: Column): Asset['dataStored'] {
  if (patientData == null && userData == null && userDataInfo == null) return null;
  return {
    containsPatientData: toBoolean(patientData),
    containsUserData: toBoolean(userData),
    userDataInfo: userDataInfo ?? null,
  };
}

const toBoolean = (column: Column): boolean | null => (column == null ? null : column === 't');
