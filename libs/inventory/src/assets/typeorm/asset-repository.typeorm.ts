import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  type Change,
  type ChangeOrigin,
  type ChangePage,
  type Expand,
  type FeedStart,
  type HistoryEntry,
  type Page,
  type PageRequest,
  type ReadScope,
  type ThenRequest,
  type WorkspaceId,
  assetId,
} from '#libs/kernel';
import { type BoundStatement, Database, type TextRow, bind, prepared } from '#libs/platform/database';
import { ChangeFeed, History, feedStatement, historyOf, takeTicket } from '#libs/platform/changes';
import { type Asset, AssetsTooLarge } from '../domain/asset';
import type { CategoryKey } from '../domain/asset-category';
import { type AssetFilter, typesOf } from '../domain/asset-filter';
import { AuditRecorder, type ChangeAuthor } from '#libs/audit';
import type { PatchedAsset } from '../domain/asset-patch';
import {
  AssetRepository,
  type AssetUpdate,
  type FoundEmployees,
  type LockedAssets,
  MOST_SEARCHED,
} from '../domain/asset-repository.port';
import {
  ASSET_COLUMNS,
  EMPLOYEE,
  EXPANDED_ASSET_COLUMNS,
  lowerCase,
  SELECTED,
  subKeyOf,
  toAsset,
  toExpandedAsset,
} from './asset.row';
import { ASSET_LIST, EXPANDED_ASSET_LIST, wantedAssets } from './asset-list';
import { apiSetBits, lockStatements, longTags, markStatement, updateStatements } from './asset-update-statements';

const findSelecting = (columns: string): string =>
  `SELECT ${columns} FROM asset AS page WHERE workspace_id = $1 AND public_id = $2 AND facet IS NOT NULL`;
export const FIND_ASSET = prepared('asset_find', findSelecting(SELECTED));
const FIND_EXPANDED_ASSET = prepared('asset_find_expanded', findSelecting(EXPANDED_ASSET_COLUMNS.selected.join(', ')));
/** ICU gives a sigma at the end of a text another form, and an İ two characters. Neither hides a part of a name. */
const searched = (text: string): string => `replace(translate(${lowerCase(text)}, 'ς', 'σ'), 'i\u0307', 'i')`;
/** A subquery, which Postgres computes once and not for each employee. */
const SOUGHT = `(SELECT ${searched('$2::text')})`;
/** No index finds a part of a text, so an index finds the employees, and each is looked at until enough match. */
const EMPLOYEES_WITH = prepared(
  'asset_employees_with',
  `SELECT counted.n > ${MOST_SEARCHED}, found.public_id, found.name, found.email
     FROM (SELECT sum(n) AS n FROM facet_count WHERE workspace_id = $1 AND sub_key = ${EMPLOYEE}) AS counted
     LEFT JOIN LATERAL (
       SELECT public_id, name, email
         FROM (SELECT public_id, name, email FROM asset
                WHERE workspace_id = $1 AND sub_key = ${EMPLOYEE} AND facet IS NOT NULL
                ORDER BY facet, id LIMIT ${MOST_SEARCHED}) AS employee
        WHERE strpos(${searched('name')}, ${SOUGHT}) > 0
           OR strpos(${searched('email')}, ${SOUGHT}) > 0 LIMIT $3::integer) AS found ON true`,
);
const listWith = (expand?: Expand) => (expand ? EXPANDED_ASSET_LIST : ASSET_LIST);
const STATES = { relation: 'asset', kind: 'sub_key', columns: ASSET_COLUMNS.selected, toItem: toAsset };
const FEED = { statement: feedStatement(STATES), toItem: toAsset };
const HISTORY = historyOf({ ...STATES, former: 'asset_version', toExpandedItem: toExpandedAsset });
/** The sub keys of a category stand side by side. */
function kindsOf(categoryKey: CategoryKey | undefined): readonly [first: number, last: number] {
  const codes = typesOf({ categoryKey }).map(subKeyOf);
  return [Math.min(...codes), Math.max(...codes)];
}

@Injectable()
export class AssetRepositoryTypeorm extends AssetRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
    private readonly feed: ChangeFeed,
    private readonly past: History,
  ) {
    super();
  }

  async list(scope: ReadScope, filter: AssetFilter, page: PageRequest, expand?: Expand): Promise<Page<Asset>> {
    return listWith(expand).page(this.database, scope, wantedAssets(filter), page);
  }

  async employeesWith(scope: ReadScope, text: string, limit: number): Promise<FoundEmployees> {
    const [rows = []] = await this.database.read(scope, [
      bind(EMPLOYEES_WITH, [scope.workspaceId, text, String(limit)]),
    ]);
    const found = rows.flatMap(([, id, name, email]) =>
      id === null ? [] : { id: assetId(id as string), name: name as string, email: email ?? null },
    );
    return { found, partly: rows[0]?.[0] === 't' };
  }

  async reader(
    workspaceId: WorkspaceId,
    filter: AssetFilter,
    { asOf, expand }: Partial<ThenRequest> = {},
  ): Promise<(page: PageRequest) => Promise<Page<Asset>>> {
    if (asOf) return this.past.reader(workspaceId, HISTORY, { asOf, expand }, kindsOf(filter.categoryKey));
    return listWith(expand).reader(this.database, workspaceId, wantedAssets(filter));
  }

  async find(scope: ReadScope, id: AssetId, { asOf, expand }: Partial<ThenRequest> = {}): Promise<Asset | null> {
    if (asOf) return this.past.find(scope, HISTORY, id, { asOf, expand });
    const [statement, toItem] = expand ? [FIND_EXPANDED_ASSET, toExpandedAsset] : [FIND_ASSET, toAsset];
    const [rows] = await this.database.read(scope, [bind(statement, [scope.workspaceId, id])]);
    return rows?.[0] ? toItem(rows[0]) : null;
  }

  async history(scope: ReadScope, id: AssetId, page: PageRequest): Promise<Page<HistoryEntry<Asset>> | null> {
    return this.past.entries(scope, HISTORY, id, page);
  }

  async changes(
    scope: ReadScope,
    categoryKey: CategoryKey | undefined,
    start: FeedStart,
    size: number,
  ): Promise<ChangePage<Change<AssetId, Asset>>> {
    return this.feed.read(scope, { ...FEED, kinds: kindsOf(categoryKey) }, start, size);
  }

  async lock(workspaceId: WorkspaceId, updates: readonly AssetUpdate[]): Promise<LockedAssets> {
    const { assets, time, ...names } = lockStatements(workspaceId, updates);
    const wanted = Object.entries(names).flatMap(([part, statement]) => (statement ? [{ part, statement }] : []));
    const statements = [assets, time, ...wanted.map(({ statement }) => statement)];
    const [locked = [], [[lockedAt] = []] = [], ...found] = await this.database.run({ workspaceId }, statements);
    const rowsOf = (part: keyof typeof names): readonly TextRow[] =>
      found[wanted.findIndex((one) => one.part === part)] ?? [];
    const byEmail = new Map<string, AssetId[]>();
    for (const [email, id] of rowsOf('byEmail') as [string, string][]) {
      byEmail.set(email, [...(byEmail.get(email) ?? []), assetId(id)]);
    }
    return {
      lockedAt: new Date(Number(lockedAt)),
      assets: (await this.withLongTags(workspaceId, locked)).map(toAsset),
      employees: new Set(rowsOf('employees').map(([id]) => assetId(id as string))),
      byEmail,
      tagKeys: new Map(rowsOf('tagKeys').map(toTagKey)),
    };
  }

  /** Adds to locked rows the tags that the lock did not read. */
  private async withLongTags(workspaceId: WorkspaceId, locked: readonly TextRow[]): Promise<readonly TextRow[]> {
    const { tags, public_id: id } = ASSET_COLUMNS.at;
    const ids = locked.flatMap((row) => (row[tags] === null ? (row[id] as string) : []));
    if (ids.length === 0) return locked;
    const { statement, budget } = longTags(workspaceId, ids);
    const [rows = []] = await this.database.run({ workspaceId }, [statement], { isLarge: true });
    if (budget.isExceeded) throw new AssetsTooLarge();
    const found = new Map(rows as [string, string][]);
    return locked.map((row) => row.with(tags, found.get(row[id] as string) ?? row[tags] ?? null));
  }

  async update(workspaceId: WorkspaceId, patched: readonly PatchedAsset[], author: ChangeAuthor): Promise<void> {
    const kept = patched.filter(({ patch, change }) => change === null && apiSetBits(patch) > 0);
    const changed = patched.filter(({ change }) => change !== null);
    const statements: BoundStatement[] = [];
    if (kept.length > 0) statements.push(markStatement(workspaceId, kept));
    if (changed.length > 0) {
      statements.push(...updateStatements(workspaceId, changed));
      const changes = changed.flatMap(({ change }) => change ?? []);
      statements.push(this.audit.statement(workspaceId, author, changes));
      this.database.writeLast({ workspaceId }, takeTicket(workspaceId, originOf(author), null));
    }
    if (statements.length > 0) await this.database.write({ workspaceId }, statements);
  }
}

const toTagKey = ([key, value, platform]: TextRow) =>
  [key as string, { key: key as string, value: value ?? null, platform: platform === 't' }] as const;

/** The feed tells applications apart, by which they skip their own changes. */
const originOf = (author: ChangeAuthor): ChangeOrigin =>
  'personId' in author
    ? { type: 'PERSON', personId: author.personId }
    : { type: 'API', clientId: author.clientId, requestId: author.requestId };
