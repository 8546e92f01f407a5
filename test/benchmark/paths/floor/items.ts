import { ASSET_TYPES } from '../../../../libs/inventory/src/assets/domain/asset-category';

export type Row = readonly (string | null)[];

export const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];
const OWNER_SOURCES = [null, 'MANUAL', 'API', 'INTEGRATION', 'RULE'];

const flag = (value: string | null | undefined): boolean | null => (value == null ? null : value === 't');
const date = (value: string | null | undefined): string | null =>
  value ? new Date(Number(value)).toISOString() : null;

/** Reads an asset from the columns from `at` on, where its internal id is. */
export function toAsset(row: Row, at: number): object {
  const type = ASSET_TYPES[Number(row[at + 2]) - 1] as string;
  const category = type.startsWith('CLOUD') ? 'CLOUD' : type;
  const of = (name: string, value: string | null | undefined): string | null =>
    category === name ? (value ?? null) : null;
  const [patientData, userData, userDataInfo] = [row[at + 14], row[at + 15], row[at + 16]];
  const holds =
    (category === 'INFORMATION' || category === 'CUSTOM') && (patientData ?? userData ?? userDataInfo) != null;
  return {
    id: row[at + 1],
    name: row[at + 3],
    categoryKey: category,
    type,
    classification: CLASSIFICATIONS[Number(row[at + 4])],
    completeStatus: row[at + 6] ? 'COMPLETE' : 'INCOMPLETE',
    description: row[at + 5] || null,
    ownerId: row[at + 6] ?? null,
    ownerSource: OWNER_SOURCES[Number(row[at + 7] ?? 0)],
    externalId: row[at + 8],
    source: row[at + 9],
    createdAt: date(row[at + 10]),
    updatedAt: date(row[at + 11]),
    lastCheckedAt: date(row[at + 12]),
    tags: JSON.parse(row[at + 13] as string) as unknown,
    dataStored: holds
      ? {
          containsPatientData: flag(patientData),
          containsUserData: flag(userData),
          userDataInfo: userDataInfo ?? null,
        }
      : null,
    accountId: of('CLOUD', row[at + 17]),
    region: of('CLOUD', row[at + 18]),
    serialNumber: of('COMPUTER', row[at + 19]),
    osVersion: of('COMPUTER', [row[at + 20], row[at + 21]].filter(Boolean).join(' ') || null),
    email: of('EMPLOYEE', row[at + 22]),
  };
}

export function toComputer(row: Row, at: number): object {
  return {
    id: row[at + 1],
    name: row[at + 2],
    operatingSystem: row[at + 3] ?? null,
    osVersion: row[at + 4] ?? null,
    serialNumber: row[at + 5] ?? null,
    ownerId: row[at + 6] ?? null,
    isMonitored: row[at + 7] === 't',
    lastCheckedAt: date(row[at + 8]),
    updatedAt: date(row[at + 9]),
    source: row[at + 10],
    tags: JSON.parse(row[at + 11] as string) as unknown,
    compliance: {
      agentVersion: row[at + 12] ?? null,
      antivirusInstalled: flag(row[at + 13]),
      diskEncryptionEnabled: flag(row[at + 14]),
      passwordManagerInstalled: flag(row[at + 15]),
      screenLockEnabled: flag(row[at + 16]),
    },
  };
}
