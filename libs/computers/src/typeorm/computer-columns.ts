import { assetId } from '#libs/kernel';
import type { TextRow } from '#libs/platform/database';
import type { Computer, Tag } from '../domain/computer';
import type { VisibleComputerRow } from './visible-computer.row';

/** The columns of a computer in row order, by meaning. */
const COLUMNS = {
  position: 'id',
  id: 'public_id',
  name: 'name',
  operatingSystem: 'operating_system',
  osVersion: 'os_version',
  serialNumber: 'serial_number',
  ownerId: 'owner_id',
  isMonitored: 'is_monitored',
  lastCheckedAt: 'last_checked_at',
  updatedAt: 'updated_at',
  source: 'source',
  tags: 'tags',
  agentVersion: 'agent_version',
  antivirus: 'antivirus_installed',
  diskEncryption: 'disk_encryption_enabled',
  passwordManager: 'password_manager_installed',
  screenLock: 'screen_lock_enabled',
} as const satisfies Record<string, keyof VisibleComputerRow>;
/** Times in milliseconds. */
export const COMPUTER_COLUMNS = Object.values(COLUMNS).map((name) =>
  name.endsWith('_at') ? `(extract(epoch FROM ${name}) * 1000)::bigint` : name,
);

/** Index of each column in a row. `next` is the first index after them. */
export const AT = Object.fromEntries(
  [...Object.keys(COLUMNS), 'next'].map((column, place) => [column, place]),
) as Record<keyof typeof COLUMNS | 'next', number>;

/** The computer in a row of {@link COMPUTER_COLUMNS}. */
export function toComputer(row: TextRow): Computer {
  const ownerId = row[AT.ownerId];
  const lastCheckedAt = row[AT.lastCheckedAt];
  return {
    id: assetId(row[AT.id] as string),
    name: row[AT.name] as string,
    operatingSystem: row[AT.operatingSystem] ?? null,
    osVersion: row[AT.osVersion] ?? null,
    serialNumber: row[AT.serialNumber] ?? null,
    ownerId: ownerId ? assetId(ownerId) : null,
    isMonitored: row[AT.isMonitored] === 't',
    lastCheckedAt: lastCheckedAt ? new Date(Number(lastCheckedAt)) : null,
    updatedAt: new Date(Number(row[AT.updatedAt])),
    source: row[AT.source] as string,
    tags: JSON.parse(row[AT.tags] as string) as Tag[],
    compliance: {
      agentVersion: row[AT.agentVersion] ?? null,
      antivirusInstalled: toBoolean(row[AT.antivirus]),
      diskEncryptionEnabled: toBoolean(row[AT.diskEncryption]),
      passwordManagerInstalled: toBoolean(row[AT.passwordManager]),
      screenLockEnabled: toBoolean(row[AT.screenLock]),
    },
  };
}

const toBoolean = (column: TextRow[number] | undefined): boolean | null => (column == null ? null : column === 't');
