import type { Statement } from '#libs/platform/database';
import { type AssetFilter, EXACT_FILTERS, type ExactFilter } from '../domain/asset-filter';
import { ASSET_COLUMNS, TABLE_COLUMNS } from './asset-columns';

/** Longer texts are not in the indexes, because no filter asks for them. */
const isText = (column: string, value: string): string =>
  `(asset.${column} COLLATE "C" = ${value}::text AND char_length(asset.${column}) <= 256)`;

/** The condition of each exact filter on an asset, given the parameter with its value. */
const CONDITIONS: Readonly<Record<ExactFilter, (value: string) => string>> = {
  externalId: (value) => `external_id = ${value}::text`,
  email: (value) => isText('email', value),
  serialNumber: (value) => isText('serial_number', value),
  name: (value) => isText('name', value),
  ownerId: (value) => `owner_id = ${value}::uuid`,
  source: (value) => `source = ${value}::text`,
};

/** An exact filter whose index holds the assets of a value by facet, and those of a facet in the order of the id. */
export interface ListKey {
  readonly name: ExactFilter;
  /** The condition on the value $4. */
  readonly condition: string;
  /** The index holds cloud assets and others apart, and a second one holds them by type and facet. */
  readonly hasTypes: boolean;
  /** Sums counters of all assets of the value $4. Without it, assets are counted. */
  readonly counter: string | null;
  /** The counters are by type and facet, so they serve beside other filters too. */
  readonly countsFacets: boolean;
}

const ofValue = (name: ExactFilter) => ({ name, condition: CONDITIONS[name]('$4') });
const counted = { hasTypes: false, counter: null, countsFacets: false };
const sumOf = (table: string, condition: string): string =>
  `SELECT coalesce(sum(n), 0) AS n FROM ${table} WHERE workspace_id = $1 AND ${condition}`;

/** An external id has none: see {@link matchingStatement}. */
export const LIST_KEYS: { readonly [Name in ExactFilter]?: ListKey } = {
  email: { ...ofValue('email'), ...counted },
  serialNumber: { ...ofValue('serialNumber'), ...counted },
  name: { ...ofValue('name'), ...counted },
  ownerId: {
    ...ofValue('ownerId'),
    hasTypes: true,
    counter: sumOf('owner_count', 'owner_id = $4::uuid'),
    countsFacets: false,
  },
  source: {
    ...ofValue('source'),
    hasTypes: true,
    counter: sumOf('source_count', 'source = $4::text'),
    countsFacets: true,
  },
};

/** The sources of the workspace, by one index look-up each. */
const KNOWN_SOURCES = `
  RECURSIVE known AS (
    (SELECT source AS name FROM source_count WHERE workspace_id = $1 ORDER BY source LIMIT 1)
    UNION ALL
    SELECT (SELECT source FROM source_count WHERE workspace_id = $1 AND source > known.name ORDER BY source LIMIT 1)
      FROM known WHERE known.name IS NOT NULL),`;

/** An external id is unique within a source, so one look-up for each source finds them all. */
const ofEverySource = (externalId: string): string => `
  known CROSS JOIN LATERAL (
    SELECT * FROM asset WHERE workspace_id = $1 AND source = known.name AND external_id = ${externalId}::text LIMIT 1
  ) AS asset`;

/**
 * Lists what several exact filters leave, or one external id: reads the assets of the first filter, which is the rarest,
 * and counts those that match the others too. Its rows are like those of the other lists.
 *
 * Values: $1 workspace, $2 position to start after, $3 rows wanted, $4 and $5 the wanted sub keys and facets as arrays,
 * from $6 on the values of {@link exactValues}.
 */
export function matchingStatement(first: ExactFilter): Statement {
  const valueOf = (name: ExactFilter): string => `$${EXACT_FILTERS.indexOf(name) + 6}`;
  const conditions = EXACT_FILTERS.map((name) => {
    const condition = CONDITIONS[name](valueOf(name));
    return name === first ? condition : `(${valueOf(name)}::text IS NULL OR ${condition})`;
  });
  const isExternal = first === 'externalId';
  return {
    name: `asset_list_matching_1_${first}`,
    text: `
      WITH ${isExternal ? KNOWN_SOURCES : ''} matching AS MATERIALIZED (
        SELECT asset.id FROM ${isExternal ? ofEverySource(valueOf('externalId')) : 'asset'}
         WHERE workspace_id = $1 AND facet IS NOT NULL AND ${conditions.join(' AND ')}
           AND (sub_key = ANY ($4::smallint[])) IS TRUE AND (facet = ANY ($5::smallint[])) IS TRUE)
      SELECT ${ASSET_COLUMNS}, total.n
        FROM (SELECT count(*) AS n FROM matching) AS total
        LEFT JOIN LATERAL (
          SELECT asset.* FROM (SELECT id FROM matching WHERE id > $2::bigint ORDER BY id LIMIT $3::int) AS found
           CROSS JOIN LATERAL (
             SELECT ${TABLE_COLUMNS} FROM asset WHERE workspace_id = $1 AND asset.id = found.id OFFSET 0) AS asset
        ) AS page ON true
       ORDER BY id`,
  };
}

/** The values of the exact filters in their order, null for those that are absent. */
export const exactValues = (filter: AssetFilter): (string | null)[] =>
  EXACT_FILTERS.map((name) => filter[name] ?? null);
