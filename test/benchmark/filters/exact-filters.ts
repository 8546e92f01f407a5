import { assetId } from '#libs/kernel';
import type { AssetFilter } from '../../../libs/inventory/src/assets/domain/asset-filter';
import type { CategoryKey } from '../../../libs/inventory/src/assets/domain/asset-category';
import type { DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Place } from './depths';

const EXACT_FILTERS = ['externalId', 'email', 'serialNumber', 'name', 'ownerId', 'tagKey', 'source'] as const;
type ExactFilter = (typeof EXACT_FILTERS)[number];

/** Stands for the value of each workspace. */
export const ANY = '…';

/** Only employees show an address, and only computers a serial number. The external id is that of a computer too. */
const CATEGORIES: { readonly [Name in ExactFilter]?: CategoryKey } = {
  email: 'EMPLOYEE',
  serialNumber: 'COMPUTER',
  externalId: 'COMPUTER',
};

/** Each exact filter alone, and beside one filter of facets. */
export function exactFilters(): AssetFilter[] {
  return EXACT_FILTERS.flatMap((name) => {
    const exact = { [name]: ANY };
    const categoryKey = CATEGORIES[name] ?? 'CLOUD';
    return [exact, { ...exact, classification: 'CONFIDENTIAL' }, { ...exact, categoryKey }] as AssetFilter[];
  });
}

/** The commonest value of each filter; for those that are nearly unique, that of some asset. */
const FIND: Readonly<Record<ExactFilter, string>> = {
  externalId: `SELECT external_id AS value FROM asset WHERE workspace_id = $1 AND sub_key = 12 AND facet IS NOT NULL LIMIT 1`,
  email: `SELECT email AS value FROM asset WHERE workspace_id = $1 AND sub_key = 15 AND facet IS NOT NULL LIMIT 1`,
  serialNumber: `SELECT serial_number AS value FROM asset WHERE workspace_id = $1 AND sub_key = 12 AND facet IS NOT NULL LIMIT 1`,
  name: `SELECT name AS value FROM asset WHERE workspace_id = $1 AND sub_key = 14 GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`,
  ownerId: `SELECT owner_id AS value FROM asset WHERE workspace_id = $1 AND facet IS NOT NULL AND owner_id IS NOT NULL
             GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`,
  tagKey: `SELECT key AS value FROM tag_key JOIN tag_count ON tag_count.workspace_id = $1 AND tag_key_id = tag_key.id
            WHERE tag_key.workspace_id = $1 GROUP BY 1 ORDER BY sum(n) DESC, 1 LIMIT 1`,
  source: `SELECT source AS value FROM source_count WHERE workspace_id = $1 GROUP BY 1 ORDER BY sum(n) DESC, 1 LIMIT 1`,
};

export class ExactValues {
  private constructor(private readonly values: ReadonlyMap<DemoSize, Readonly<Record<string, string>>>) {}

  static async of({ admin }: BenchmarkDatabase, places: ReadonlyMap<DemoSize, Place>): Promise<ExactValues> {
    const values = new Map<DemoSize, Record<string, string>>();
    for (const [size, { workspace }] of places) {
      const found: Record<string, string> = {};
      for (const name of EXACT_FILTERS) {
        const { rows } = await admin.query<{ value: string }>(FIND[name], [workspace]);
        found[name] = rows[0]?.value ?? '';
      }
      values.set(size, found);
    }
    return new ExactValues(values);
  }

  /** Puts the workspace's value in the place of {@link ANY}. */
  fill<Filter extends object>(size: DemoSize, filter: Filter): Filter {
    const entries = Object.entries(filter).map(([name, value]: [string, unknown]): [string, unknown] => {
      const found = value === ANY ? this.values.get(size)?.[name] : value;
      return [name, name === 'ownerId' ? assetId(String(found)) : found];
    });
    return Object.fromEntries(entries) as Filter;
  }
}
