import { Injectable } from '@nestjs/common';
import { type AssetId, type Page, type PageRequest, type WorkspaceId, toPage } from '#libs/kernel';
import { Database, type Statement, type TextRow } from '#libs/platform';
import type { Asset } from '../domain/asset';
import { ASSET_TYPES } from '../domain/asset-category';
import { type AssetFilter, FACETS, facetsOf, typesOf } from '../domain/asset-filter';
import { AssetRepository } from '../domain/asset-repository.port';
import { toAsset } from './asset-columns';
import { FIND_ASSET, type ListRange, listStatement } from './asset-statements';

/** Before the first row: ids begin at 1. */
const START = '0';

@Injectable()
export class AssetRepositoryTypeorm extends AssetRepository {
  private readonly listStatements = new Map<string, Statement>();

  constructor(private readonly database: Database) {
    super();
  }

  async list(workspaceId: WorkspaceId, filter: AssetFilter, page: PageRequest): Promise<Page<Asset>> {
    const facets = facetsOf(filter);
    if (facets.length === 0) return { items: [], endPosition: null, totalCount: 0 };
    const types = typesOf(filter);
    const range: ListRange = types.length === ASSET_TYPES.length ? 'all' : types.length === 1 ? 'sub_key' : 'cloud';
    const unfiltered = range === 'all' && facets.length === FACETS.length;
    const subKey = range === 'sub_key' && types[0] ? String(ASSET_TYPES.indexOf(types[0]) + 1) : null;
    const codes = unfiltered ? [] : facets.map((facet) => String(FACETS.indexOf(facet)));
    const values = [workspaceId, page.after ?? START, String(page.size + 1), subKey, ...codes];
    const statement = this.listStatement(range, codes.length, unfiltered);
    const [rows = []] = await this.database.run({ workspaceId }, [{ ...statement, values }]);
    const found = rows.filter((row) => row[1] !== null).map(toPositioned);
    const { items, endPosition, totalCount } = toPage(found, page.size, Number(rows[0]?.[0] ?? 0));
    return { items: items.map(({ asset }) => asset), endPosition, totalCount };
  }

  async find(workspaceId: WorkspaceId, id: AssetId): Promise<Asset | null> {
    const [rows] = await this.database.run({ workspaceId }, [{ ...FIND_ASSET, values: [workspaceId, id] }]);
    return rows?.[0] ? toAsset(rows[0]) : null;
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

/** A row of a list carries the total first, then the columns of the asset. */
function toPositioned(row: TextRow): { asset: Asset; position: string } {
  const [, ...columns] = row;
  return { asset: toAsset(columns), position: columns[0] as string };
}
