import { Injectable } from '@nestjs/common';
import type { AssetId, Change, ChangePage, FeedStart, Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import { ChangeFeed, feedStatement } from '#libs/platform/changes';
import { Database, bind, pageOfRows, prepared } from '#libs/platform/database';
import { type Computer, ComputerNotFound } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';
import { type ComputerFilter, posturesOf } from '../domain/computer-filter';
import { AT, COMPUTER_COLUMNS, toComputer } from './visible-computer.row';
import { type Sizes, listStatement, needsSizes, sizesStatement, toSizes } from './computer-list-statements';

const SELECTED = COMPUTER_COLUMNS.join(', ');

const FIND = prepared(
  'computer_find',
  `SELECT ${SELECTED} FROM visible_computer WHERE workspace_id = $1 AND public_id = $2`,
);

/** The sub key of every row of the view; see migration 1780000000033-computer-changes. */
const COMPUTER = 12;

const FEED = {
  statement: feedStatement({ relation: 'changed_computer', columns: COMPUTER_COLUMNS }),
  toItem: toComputer,
  subKeys: [COMPUTER, COMPUTER] as const,
};

@Injectable()
export class ComputerDirectoryTypeorm extends ComputerDirectory {
  constructor(
    private readonly database: Database,
    private readonly feed: ChangeFeed,
  ) {
    super();
  }

  async list(
    workspaceId: WorkspaceId,
    filter: ComputerFilter,
    page: PageRequest,
    freshness: Freshness = 'newest',
  ): Promise<Page<Computer>> {
    if (posturesOf(filter).length === 0) return pageOfRows([], page.size, AT, toComputer);
    const sizes = needsSizes(filter) ? await this.sizes(workspaceId, filter, freshness) : null;
    const list = listStatement(workspaceId, filter, page, sizes);
    const [rows = []] = await this.database.read({ workspaceId }, [list], freshness);
    return pageOfRows(rows, page.size, AT, toComputer);
  }

  async get(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness): Promise<Computer> {
    const find = bind(FIND, [workspaceId, id]);
    const [rows] = await this.database.read({ workspaceId }, [find], freshness);
    if (!rows?.[0]) throw new ComputerNotFound();
    return toComputer(rows[0]);
  }

  async changes(
    workspaceId: WorkspaceId,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Change<AssetId, Computer>>> {
    return this.feed.read(workspaceId, FEED, start, size, freshness);
  }

  private async sizes(workspaceId: WorkspaceId, filter: ComputerFilter, freshness: Freshness): Promise<Sizes> {
    const [rows = []] = await this.database.read({ workspaceId }, [sizesStatement(workspaceId, filter)], freshness);
    return toSizes(rows[0]);
  }
}
