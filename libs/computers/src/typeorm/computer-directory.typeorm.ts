import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  type Freshness,
  type Page,
  type PageRequest,
  type WorkspaceId,
  assetId,
  toPage,
} from '#libs/kernel';
import { Database, type Statement, type TextRow, bind } from '#libs/platform/database';
import type { Computer, Tag } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';
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
  tags: 'tags',
  agentVersion: 'agent_version',
  antivirus: 'antivirus_installed',
  diskEncryption: 'disk_encryption_enabled',
  passwordManager: 'password_manager_installed',
  screenLock: 'screen_lock_enabled',
} as const satisfies Record<string, keyof VisibleComputerRow>;
/** Times in milliseconds. */
const SELECTED = Object.values(COLUMNS)
  .map((name) => (name.endsWith('_at') ? `(extract(epoch FROM ${name}) * 1000)::bigint` : name))
  .join(', ');

/** Index of each column in a row. `next` is the first index after them. */
const AT = Object.fromEntries([...Object.keys(COLUMNS), 'next'].map((column, place) => [column, place])) as Record<
  keyof typeof COLUMNS | 'next',
  number
>;

/** Before the first row: ids begin at 1. */
const START = '0';

/** One statement reads a page and its total, so both come from one snapshot. The total comes from a counter. */
const LIST: Statement = {
  name: 'computer_list_2',
  text: `
    SELECT ${SELECTED}, total.n
      FROM (SELECT coalesce(sum(n), 0) AS n FROM visible_computer_count WHERE workspace_id = $1) AS total
      LEFT JOIN LATERAL (
        SELECT * FROM visible_computer WHERE workspace_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int
      ) AS page ON true
     ORDER BY id`,
};
const FIND: Statement = {
  name: 'computer_find_1',
  text: `SELECT ${SELECTED} FROM visible_computer WHERE workspace_id = $1 AND public_id = $2`,
};

@Injectable()
export class ComputerDirectoryTypeorm extends ComputerDirectory {
  constructor(private readonly database: Database) {
    super();
  }

  async list(workspaceId: WorkspaceId, page: PageRequest, freshness: Freshness = 'newest'): Promise<Page<Computer>> {
    const values = [workspaceId, page.after ?? START, String(page.size + 1)];
    const [rows = []] = await this.database.read({ workspaceId }, [bind(LIST, values)], freshness);
    const found = rows
      .filter((row) => row[AT.id] !== null)
      .map((row) => ({ computer: toComputer(row), position: row[AT.position] as string }));
    const { items, endPosition, totalCount } = toPage(found, page.size, Number(rows[0]?.[AT.next] ?? 0));
    return { items: items.map(({ computer }) => computer), endPosition, totalCount };
  }

  async find(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness = 'newest'): Promise<Computer | null> {
    const find = bind(FIND, [workspaceId, id]);
    const [rows] = await this.database.read({ workspaceId }, [find], freshness);
    return rows?.[0] ? toComputer(rows[0]) : null;
  }
}

function toComputer(row: TextRow): Computer {
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
