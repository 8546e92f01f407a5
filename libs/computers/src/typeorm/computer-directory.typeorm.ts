import { Injectable } from '@nestjs/common';
import type {
  AssetId,
  Change,
  ChangePage,
  Expand,
  FeedStart,
  HistoryEntry,
  Page,
  PageRequest,
  ReadScope,
  ThenRequest,
  WorkspaceId,
} from '#libs/kernel';
import { ChangeFeed, History, feedStatement, historyOf } from '#libs/platform/changes';
import { Database, bind, prepared } from '#libs/platform/database';
import { type Computer, ComputerNotFound } from '../domain/computer';
import { ComputerDirectory } from '../domain/computer-directory.port';
import type { ComputerFilter } from '../domain/computer-filter';
import { COMPUTER_LIST, EXPANDED_COMPUTER_LIST, wantedComputers } from './computer-list';
import { COMPUTER_COLUMNS, EXPANDED_COMPUTER_COLUMNS, toComputer, toExpandedComputer } from './visible-computer.row';

const findSelecting = (columns: readonly string[]): string =>
  `SELECT ${columns.join(', ')} FROM visible_computer AS page WHERE workspace_id = $1 AND public_id = $2`;
const FIND = prepared('computer_find', findSelecting(COMPUTER_COLUMNS.selected));
const FIND_EXPANDED = prepared('computer_find_expanded', findSelecting(EXPANDED_COMPUTER_COLUMNS.selected));
const listWith = (expand?: Expand) => (expand ? EXPANDED_COMPUTER_LIST : COMPUTER_LIST);

const STATES = { relation: 'changed_computer', kind: 'kind', columns: COMPUTER_COLUMNS.selected, toItem: toComputer };
const FEED = { statement: feedStatement(STATES), toItem: toComputer };
const HISTORY = historyOf({ ...STATES, former: 'former_computer', toExpandedItem: toExpandedComputer });

@Injectable()
export class ComputerDirectoryTypeorm extends ComputerDirectory {
  constructor(
    private readonly database: Database,
    private readonly feed: ChangeFeed,
    private readonly past: History,
  ) {
    super();
  }

  async list(scope: ReadScope, filter: ComputerFilter, page: PageRequest, expand?: Expand): Promise<Page<Computer>> {
    return listWith(expand).page(this.database, scope, wantedComputers(filter), page);
  }

  async reader(
    workspaceId: WorkspaceId,
    filter: ComputerFilter,
    { asOf, expand }: Partial<ThenRequest> = {},
  ): Promise<(page: PageRequest) => Promise<Page<Computer>>> {
    if (asOf) return this.past.reader(workspaceId, HISTORY, { asOf, expand });
    return listWith(expand).reader(this.database, workspaceId, wantedComputers(filter));
  }

  async get(scope: ReadScope, id: AssetId, { asOf, expand }: Partial<ThenRequest> = {}): Promise<Computer> {
    if (asOf) {
      const then = await this.past.find(scope, HISTORY, id, { asOf, expand });
      if (!then) throw new ComputerNotFound();
      return then;
    }
    const [statement, toItem] = expand ? [FIND_EXPANDED, toExpandedComputer] : [FIND, toComputer];
    const [rows] = await this.database.read(scope, [bind(statement, [scope.workspaceId, id])]);
    if (!rows?.[0]) throw new ComputerNotFound();
    return toItem(rows[0]);
  }

  async changes(scope: ReadScope, start: FeedStart, size: number): Promise<ChangePage<Change<AssetId, Computer>>> {
    return this.feed.read(scope, FEED, start, size);
  }

  async history(scope: ReadScope, id: AssetId, page: PageRequest): Promise<Page<HistoryEntry<Computer>>> {
    const found = await this.past.entries(scope, HISTORY, id, page);
    if (!found) throw new ComputerNotFound();
    return found;
  }
}
