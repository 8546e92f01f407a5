import { Injectable } from '@nestjs/common';
import { type AssetId, type Freshness, type Page, type PageRequest, type WorkspaceId, toPage } from '#libs/kernel';
import { Database, type Statement, bind } from '#libs/platform/database';
import type { Computer } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';
import { AT, COMPUTER_COLUMNS, toComputer } from './computer-columns';

const SELECTED = COMPUTER_COLUMNS.join(', ');

/** Before the first row: ids begin at 1. */
const START = '0';

/** One statement reads a page and its total, so both come from one snapshot. The total comes from a counter. */
const LIST: Statement = {
  name: 'computer_list_3',
  text: `
    SELECT ${SELECTED}, total.n
      FROM (SELECT coalesce(sum(n), 0) AS n FROM visible_computer_count WHERE workspace_id = $1) AS total
      LEFT JOIN LATERAL (
        SELECT * FROM visible_computer WHERE workspace_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int
      ) AS page ON true
     ORDER BY id`,
};
const FIND: Statement = {
  name: 'computer_find_2',
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
    const { items, ...place } = toPage(found, page.size, Number(rows[0]?.[AT.next] ?? 0));
    return { items: items.map(({ computer }) => computer), ...place };
  }

  async find(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness = 'newest'): Promise<Computer | null> {
    const find = bind(FIND, [workspaceId, id]);
    const [rows] = await this.database.read({ workspaceId }, [find], freshness);
    return rows?.[0] ? toComputer(rows[0]) : null;
  }
}
