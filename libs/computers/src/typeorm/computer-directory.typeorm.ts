import { Injectable } from '@nestjs/common';
import { type AssetId, type Freshness, type Page, type PageRequest, type WorkspaceId, assetId, toPage } from '#libs/kernel';
import { Database, type Statement, type TextRow, bind } from '#libs/platform';
import type { Computer, Tag } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';

const COLUMNS = `id, public_id, name, operating_system, os_version, serial_number, owner_id, is_monitored,
  (extract(epoch FROM last_checked_at) * 1000)::bigint, tags, agent_version, antivirus_installed,
  disk_encryption_enabled, password_manager_installed, screen_lock_enabled`;

/** Before the first row: ids begin at 1. */
const START = '0';

/** A page and its exact total in one statement and so of one moment; the total is a counter, not a count. */
const LIST: Statement = {
  name: 'computer_list_1',
  text: `
    SELECT total.n, ${COLUMNS}
      FROM (SELECT coalesce(sum(n), 0) AS n FROM visible_computer_count WHERE workspace_id = $1) AS total
      LEFT JOIN LATERAL (
        SELECT * FROM visible_computer WHERE workspace_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int
      ) AS page ON true
     ORDER BY id`,
};
const FIND: Statement = {
  name: 'computer_find_1',
  text: `SELECT ${COLUMNS} FROM visible_computer WHERE workspace_id = $1 AND public_id = $2`,
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
      .filter((row) => row[1] !== null)
      .map((row) => ({ computer: toComputer(row.slice(1)), position: row[1] as string }));
    const { items, endPosition, totalCount } = toPage(found, page.size, Number(rows[0]?.[0] ?? 0));
    return { items: items.map(({ computer }) => computer), endPosition, totalCount };
  }

  async find(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness = 'newest'): Promise<Computer | null> {
    const find = bind(FIND, [workspaceId, id]);
    const [rows] = await this.database.read({ workspaceId }, [find], freshness);
    return rows?.[0] ? toComputer(rows[0]) : null;
  }
}

function toComputer(row: TextRow): Computer {
  return {
    id: assetId(row[1] as string),
    name: row[2] as string,
    operatingSystem: row[3] ?? null,
    osVersion: row[4] ?? null,
    serialNumber: row[5] ?? null,
    ownerId: row[6] ? assetId(row[6]) : null,
    isMonitored: row[7] === 't',
    lastCheckedAt: row[8] ? new Date(Number(row[8])) : null,
    tags: JSON.parse(row[9] as string) as Tag[],
    compliance: {
      agentVersion: row[10] ?? null,
      antivirusInstalled: toBoolean(row[11]),
      diskEncryptionEnabled: toBoolean(row[12]),
      passwordManagerInstalled: toBoolean(row[13]),
      screenLockEnabled: toBoolean(row[14]),
    },
  };
}

const toBoolean = (column: TextRow[number] | undefined): boolean | null => (column == null ? null : column === 't');
