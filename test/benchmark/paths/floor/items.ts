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
  const [patientData, userData, userDataInfo] = [row[at + 12], row[at + 13], row[at + 14]];
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
    createdAt: date(row[at + 9]),
    lastCheckedAt: date(row[at + 10]),
    tags: JSON.parse(row[at + 11] as string) as unknown,
    dataStored: holds
      ? {
          containsPatientData: flag(patientData),
          containsUserData: flag(userData),
          userDataInfo: userDataInfo ?? null,
        }
      : null,
    accountId: of('CLOUD', row[at + 15]),
    region: of('CLOUD', row[at + 16]),
    serialNumber: of('COMPUTER', row[at + 17]),
    osVersion: of('COMPUTER', [row[at + 18], row[at + 19]].filter(Boolean).join(' ') || null),
    email: of('EMPLOYEE', row[at + 20]),
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
    tags: JSON.parse(row[at + 9] as string) as unknown,
    compliance: {
      agentVersion: row[at + 10] ?? null,
      antivirusInstalled: flag(row[at + 11]),
      diskEncryptionEnabled: flag(row[at + 12]),
      passwordManagerInstalled: flag(row[at + 13]),
      screenLockEnabled: flag(row[at + 14]),
    },
  };
}
