import { Injectable } from '@nestjs/common';
import type { AssetId, Change, ChangePage, FeedStart, Freshness, Page, PageRequest, WorkspaceId } from '#libs/kernel';
import { type BoundStatement, Database, type Statement, bind, pageOfRows } from '#libs/platform/database';
import { ChangeFeed, feedStatement, takeTicket } from '#libs/platform/changes';
import type { Asset } from '../domain/asset';
import { ASSET_TYPES, type CategoryKey } from '../domain/asset-category';
import { type AssetFilter, EXACT_FILTERS, FACETS, facetsOf, typesOf } from '../domain/asset-filter';
import { type AuditAnchor, AuditRecorder, type ChangeAuthor } from '#libs/audit';
import type { AssetPatch, PatchedAsset } from '../domain/asset-patch';
import { AssetRepository, type LockedAssets } from '../domain/asset-repository.port';
import { ASSET_COLUMN_LIST, AT, LAST_CLOUD, subKeyOf, toAsset } from './asset.row';
import { LIST_KEYS, type ListKey, exactValues, matchingStatement } from './asset-list-keys';
import { FIND_ASSET, type ListBranches, branchValues, listStatement, wantedArrays } from './asset-statements';
import { apiSetBits, lockStatements, markStatement, tagStatements, updateStatement } from './asset-update-statements';

/** Before the first row: ids begin at 1. */
const START = '0';

const FEED = feedStatement({ relation: 'asset', columns: ASSET_COLUMN_LIST });

@Injectable()
export class AssetRepositoryTypeorm extends AssetRepository {
  private readonly listStatements = new Map<string, Statement>();

  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
    private readonly feed: ChangeFeed,
  ) {
    super();
  }

  async list(
    workspaceId: WorkspaceId,
    filter: AssetFilter,
    page: PageRequest,
    freshness: Freshness = 'newest',
  ): Promise<Page<Asset>> {
    const facets = facetsOf(filter);
    const types = typesOf(filter);
    if (facets.length === 0 || types.length === 0) return pageOfRows([], page.size, AT, toAsset);
    const codes = facets.map((facet) => FACETS.indexOf(facet));
    const subKeys = types.map(subKeyOf);
    const position = [workspaceId, page.after ?? START, String(page.size + 1)];
    const list = this.boundList(filter, subKeys, codes, position);
    const [rows = []] = await this.database.read({ workspaceId }, [list], freshness);
    return pageOfRows(rows, page.size, AT, toAsset);
  }

  async find(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness = 'newest'): Promise<Asset | null> {
    const find = bind(FIND_ASSET, [workspaceId, id]);
    const [rows] = await this.database.read({ workspaceId }, [find], freshness);
    return rows?.[0] ? toAsset(rows[0]) : null;
  }

  async changes(
    workspaceId: WorkspaceId,
    categoryKey: CategoryKey | undefined,
    start: FeedStart,
    size: number,
    freshness: Freshness,
  ): Promise<ChangePage<Change<AssetId, Asset>>> {
    // The sub keys of a category stand side by side.
    const codes = typesOf({ categoryKey }).map(subKeyOf);
    const subKeys = [Math.min(...codes), Math.max(...codes)] as const;
    return this.feed.read(workspaceId, { statement: FEED, toItem: toAsset, subKeys }, start, size, freshness);
  }

  async lock(workspaceId: WorkspaceId, ids: readonly AssetId[], patch: AssetPatch): Promise<LockedAssets> {
    const statements = lockStatements(workspaceId, ids, patch);
    const [assets = [], [anchor = []] = [], ...found] = await this.database.run({ workspaceId }, statements);
    const owners = patch.ownerId ? (found.shift() ?? []) : [];
    const [tagKeys = []] = found;
    const [lockedAt, sequence, link] = anchor;
    return {
      lockedAt: new Date(Number(lockedAt)),
      auditAnchor: sequence ? { sequence: Number(sequence), link: link as string } : null,
      assets: assets.map(toAsset),
      ownerIsEmployee: !patch.ownerId || owners.length > 0,
      tagKeys: tagKeys.map(([key, value, platform]) => ({
        key: key as string,
        value: value ?? null,
        platform: platform === 't',
      })),
    };
  }

  async update(
    workspaceId: WorkspaceId,
    patch: AssetPatch,
    patched: readonly PatchedAsset[],
    author: ChangeAuthor,
    auditAnchor: AuditAnchor | null,
  ): Promise<void> {
    if (apiSetBits(patch) === 0) return;
    const kept = patched.filter(({ change }) => change === null).map(({ asset }) => asset.id);
    const [first, ...others] = patched.filter(({ change }) => change !== null).map(({ asset }) => asset);
    const changes = patched.flatMap(({ change }) => change ?? []);
    const statements: BoundStatement[] = [];
    if (kept.length > 0) statements.push(markStatement(workspaceId, patch, kept));
    if (first) {
      statements.push(updateStatement(workspaceId, patch, [first, ...others]));
      if (patch.tags) statements.push(...tagStatements(workspaceId, first));
      statements.push(this.audit.statement(workspaceId, author, changes, auditAnchor));
      const { clientId, requestId } = author;
      this.database.writeLast({ workspaceId }, takeTicket(workspaceId, { type: 'API', clientId, requestId }));
    }
    await this.database.write({ workspaceId }, statements);
  }

  private boundList(
    filter: AssetFilter,
    subKeys: readonly number[],
    facets: readonly number[],
    position: readonly (string | null)[],
  ): BoundStatement {
    const [first, second] = EXACT_FILTERS.filter((name) => filter[name] !== undefined);
    const key = first && !second ? (LIST_KEYS[first] ?? null) : null;
    if (first && !key) {
      const matching = this.prepared(`matching ${first}`, () => matchingStatement(first));
      return bind(matching, [...position, ...wantedArrays(subKeys, facets), ...exactValues(filter)]);
    }
    const isWhole =
      subKeys.length === ASSET_TYPES.length && facets.length === facetsOf({ ownerId: filter.ownerId }).length;
    const keyed = key && { key, isWhole: isWhole && key.counter !== null };
    const branches = keyed?.isWhole && keyed.key.hasOrder ? ONE_BRANCH : branchesOf(subKeys, facets, key);
    const { all, cloud, ofSubKeys } = branches;
    const shape = [key?.name, keyed?.isWhole, all?.length, cloud.length, ofSubKeys.length].join(' ');
    const list = this.prepared(shape, () => listStatement(branches, keyed));
    const value = first && filter[first] !== undefined ? [filter[first]] : [];
    return bind(list, [...position, ...value, ...branchValues(subKeys, facets, branches, keyed)]);
  }

  private prepared(shape: string, make: () => Statement): Statement {
    let statement = this.listStatements.get(shape);
    if (!statement) {
      statement = make();
      this.listStatements.set(shape, statement);
    }
    return statement;
  }
}

const ONE_BRANCH: ListBranches = { all: null, cloud: [], ofSubKeys: [] };

/** One branch serves all cloud assets of a facet, and one all assets of it. */
function branchesOf(subKeys: readonly number[], facets: readonly number[], key: ListKey | null): ListBranches {
  if (subKeys.length === ASSET_TYPES.length || key?.hasTypes === false) {
    return { all: facets.length === FACETS.length && !key ? null : facets, cloud: [], ofSubKeys: [] };
  }
  const hasCloud = subKeys.filter((subKey) => subKey <= LAST_CLOUD).length === LAST_CLOUD;
  const single = hasCloud ? subKeys.filter((subKey) => subKey > LAST_CLOUD) : subKeys;
  return {
    all: [],
    cloud: hasCloud ? facets : [],
    ofSubKeys: single.flatMap((subKey) => facets.map((facet) => ({ subKey, facet }))),
  };
}
