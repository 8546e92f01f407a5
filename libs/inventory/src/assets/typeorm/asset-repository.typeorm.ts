import { Injectable } from '@nestjs/common';
import { type AssetId, type Freshness, type Page, type PageRequest, type WorkspaceId, toPage } from '#libs/kernel';
import { type BoundStatement, Database, type Statement, type TextRow, bind } from '#libs/platform/database';
import { takeTicket } from '#libs/platform/changes';
import type { Asset } from '../domain/asset';
import { ASSET_TYPES } from '../domain/asset-category';
import { type AssetFilter, FACETS, facetsOf, typesOf } from '../domain/asset-filter';
import { type AuditAnchor, AuditRecorder, type ChangeAuthor } from '#libs/audit';
import type { AssetPatch, PatchedAsset } from '../domain/asset-patch';
import { AssetRepository, type LockedAssets } from '../domain/asset-repository.port';
import { AT, toAsset } from './asset-columns';
import { FIND_ASSET, type ListRange, listStatement } from './asset-statements';
import { apiSetBits, lockStatements, markStatement, tagStatements, updateStatement } from './asset-update-statements';
import { subKeyOf } from './sub-keys';

/** Before the first row: ids begin at 1. */
const START = '0';

@Injectable()
export class AssetRepositoryTypeorm extends AssetRepository {
  private readonly listStatements = new Map<string, Statement>();

  constructor(
    private readonly database: Database,
    private readonly audit: AuditRecorder,
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
    if (facets.length === 0) return toPage([], page.size, 0);
    const types = typesOf(filter);
    const range: ListRange = types.length === ASSET_TYPES.length ? 'all' : types.length === 1 ? 'sub_key' : 'cloud';
    const unfiltered = range === 'all' && facets.length === FACETS.length;
    const subKey = range === 'sub_key' && types[0] ? String(subKeyOf(types[0])) : null;
    const codes = unfiltered ? [] : facets.map((facet) => String(FACETS.indexOf(facet)));
    const values = [workspaceId, page.after ?? START, String(page.size + 1), subKey, ...codes];
    const statement = this.listStatement(range, codes.length, unfiltered);
    const [rows = []] = await this.database.read({ workspaceId }, [bind(statement, values)], freshness);
    const found = rows.filter((row) => row[AT.id] !== null).map(toPositioned);
    const { items, ...place } = toPage(found, page.size, Number(rows[0]?.[AT.next] ?? 0));
    return { items: items.map(({ asset }) => asset), ...place };
  }

  async find(workspaceId: WorkspaceId, id: AssetId, freshness: Freshness = 'newest'): Promise<Asset | null> {
    const find = bind(FIND_ASSET, [workspaceId, id]);
    const [rows] = await this.database.read({ workspaceId }, [find], freshness);
    return rows?.[0] ? toAsset(rows[0]) : null;
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

  private listStatement(range: ListRange, facetCount: number, unfiltered: boolean): Statement {
    const shape = `${range} ${facetCount}`;
    let statement = this.listStatements.get(shape);
    if (!statement) {
      statement = listStatement(range, facetCount, unfiltered);
      this.listStatements.set(shape, statement);
    }
    return statement;
  }
}

const toPositioned = (row: TextRow): { asset: Asset; position: string } => ({
  asset: toAsset(row),
  position: row[AT.position] as string,
});
