import { Injectable } from '@nestjs/common';
import type { AssetId, Change, ChangePage, FeedStart, Page, PageRequest, ReadScope, WorkspaceId } from '#libs/kernel';
import { ChangeFeed, feedStatement } from '#libs/platform/changes';
import { Database, bind, prepared } from '#libs/platform/database';
import { type Computer, ComputerNotFound } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';
import type { ComputerFilter } from '../domain/computer-filter';
import { COMPUTER_LIST, wantedComputers } from './computer-list';
import { COMPUTER_COLUMNS, toComputer } from './visible-computer.row';

const SELECTED = COMPUTER_COLUMNS.selected.join(', ');

const FIND = prepared(
  'computer_find',
  `SELECT ${SELECTED} FROM visible_computer WHERE workspace_id = $1 AND public_id = $2`,
);

const FEED = {
  statement: feedStatement({ relation: 'changed_computer', kind: 'kind', columns: COMPUTER_COLUMNS.selected }),
  toItem: toComputer,
};

@Injectable()
export class ComputerDirectoryTypeorm extends ComputerDirectory {
  constructor(
    private readonly database: Database,
    private readonly feed: ChangeFeed,
  ) {
    super();
  }

  async list(scope: ReadScope, filter: ComputerFilter, page: PageRequest): Promise<Page<Computer>> {
    return COMPUTER_LIST.page(this.database, scope, wantedComputers(filter), page);
  }

  reader(workspaceId: WorkspaceId, filter: ComputerFilter): (page: PageRequest) => Promise<Page<Computer>> {
    return COMPUTER_LIST.reader(this.database, workspaceId, wantedComputers(filter));
  }

  async get(scope: ReadScope, id: AssetId): Promise<Computer> {
    const [rows] = await this.database.read(scope, [bind(FIND, [scope.workspaceId, id])]);
    if (!rows?.[0]) throw new ComputerNotFound();
    return toComputer(rows[0]);
  }

  async changes(scope: ReadScope, start: FeedStart, size: number): Promise<ChangePage<Change<AssetId, Computer>>> {
    return this.feed.read(scope, FEED, start, size);
  }
}
