import { type Tag, assetId } from '#libs/kernel';
import { type TextRow, columnList, toBoolean, toOwner, withOwner } from '#libs/platform/database';
import { ViewColumn, ViewEntity } from 'typeorm';
import type { Computer } from '../domain/computer';

/** The columns of a computer in both views. Migration 1780000000041 of the inventory makes the views. */
abstract class ComputerColumns {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() id!: string;
  @ViewColumn() public_id!: string;
  @ViewColumn() name!: string;
  @ViewColumn() operating_system!: string | null;
  @ViewColumn() os_version!: string | null;
  @ViewColumn() serial_number!: string | null;
  @ViewColumn() owner_id!: string | null;
  @ViewColumn() is_monitored!: boolean;
  @ViewColumn() last_checked_at!: Date | null;
  @ViewColumn() updated_at!: Date;
  @ViewColumn() source!: string;
  @ViewColumn() tags!: Tag[];
  @ViewColumn() agent_version!: string | null;
  @ViewColumn() antivirus_installed!: boolean | null;
  @ViewColumn() disk_encryption_enabled!: boolean | null;
  @ViewColumn() password_manager_installed!: boolean | null;
  @ViewColumn() screen_lock_enabled!: boolean | null;
}

/** A visible computer, with what filters look for. */
@ViewEntity({ name: 'visible_computer', synchronize: false })
export class VisibleComputerRow extends ComputerColumns {
  @ViewColumn() external_id!: string;
  @ViewColumn() facet!: number;
  @ViewColumn() posture!: number | null;
}

/** Computers that are removed too: their facet is null. */
@ViewEntity({ name: 'changed_computer', synchronize: false })
export class ChangedComputerRow extends ComputerColumns {
  @ViewColumn() change_id!: string;
  /** The order of a change set. It is the same for every computer. */
  @ViewColumn() kind!: number;
  @ViewColumn() facet!: number | null;
}

/** Former states of computers. Migration 1780000000096 of the inventory makes the view. */
@ViewEntity({ name: 'former_computer', synchronize: false })
export class FormerComputerRow extends ComputerColumns {
  @ViewColumn() version_id!: string;
  @ViewColumn() change_id!: string;
  @ViewColumn() to_change!: string;
  @ViewColumn() facet!: number | null;
}

/** The number of visible computers by facet. */
@ViewEntity({ name: 'computer_count', synchronize: false })
export class ComputerCountRow {
  @ViewColumn() workspace_id!: string;
  @ViewColumn() facet!: number;
  @ViewColumn() n!: string;
}

/** The same by import source. */
@ViewEntity({ name: 'computer_source_count', synchronize: false })
export class ComputerSourceCountRow extends ComputerCountRow {
  @ViewColumn() source!: string;
}

/** Columns as {@link toComputer} reads them, and the place of each. */
export const COMPUTER_COLUMNS = columnList(VisibleComputerRow, ['workspace_id', 'external_id', 'facet', 'posture']);
/** The same with the owner, behind `page`. */
export const EXPANDED_COMPUTER_COLUMNS = withOwner(COMPUTER_COLUMNS);
const { at: AT } = COMPUTER_COLUMNS;

/** The computer in a row of {@link COMPUTER_COLUMNS}. */
export function toComputer(row: TextRow): Computer {
  const ownerId = row[AT.owner_id];
  const lastCheckedAt = row[AT.last_checked_at];
  return {
    id: assetId(row[AT.public_id] as string),
    name: row[AT.name] as string,
    operatingSystem: row[AT.operating_system] ?? null,
    osVersion: row[AT.os_version] ?? null,
    serialNumber: row[AT.serial_number] ?? null,
    ownerId: ownerId ? assetId(ownerId) : null,
    isMonitored: row[AT.is_monitored] === 't',
    lastCheckedAt: lastCheckedAt ? new Date(Number(lastCheckedAt)) : null,
    updatedAt: new Date(Number(row[AT.updated_at])),
    source: row[AT.source] as string,
    tags: JSON.parse(row[AT.tags] as string) as Tag[],
    compliance: {
      agentVersion: row[AT.agent_version] ?? null,
      antivirusInstalled: toBoolean(row[AT.antivirus_installed]),
      diskEncryptionEnabled: toBoolean(row[AT.disk_encryption_enabled]),
      passwordManagerInstalled: toBoolean(row[AT.password_manager_installed]),
      screenLockEnabled: toBoolean(row[AT.screen_lock_enabled]),
    },
  };
}

/** Reads a computer with its owner from a row of {@link EXPANDED_COMPUTER_COLUMNS}. A copy would take longer than the reading. */
export const toExpandedComputer = (row: TextRow): Computer =>
  Object.assign(toComputer(row), { owner: toOwner(row[EXPANDED_COMPUTER_COLUMNS.at.owner]) });
