import type { Statement } from '#libs/platform/database';
import { type AssetFilter, EXACT_FILTERS, type ExactFilter } from '../domain/asset-filter';
import { ASSET_COLUMNS, TABLE_COLUMNS } from './asset.row';

/** Longer texts are not in the indexes, because no filter asks for them. */
const isText = (column: string, value: string): string =>
  `(asset.${column} COLLATE "C" = ${value}::text AND char_length(asset.${column}) <= 256)`;

/** The hash finds the key: it may be longer than an entry of an index. */
const tagKeyId = (key: string): string =>
  `SELECT tag_key.id FROM tag_key
    WHERE tag_key.workspace_id = $1 AND md5(tag_key.key) = md5(${key}::text) AND tag_key.key = ${key}::text`;

/** The condition of each exact filter on an asset, given the parameter with its value. */
const CONDITIONS: Readonly<Record<ExactFilter, (value: string) => string>> = {
  externalId: (value) => `external_id = ${value}::text`,
  email: (value) => isText('email', value),
  serialNumber: (value) => isText('serial_number', value),
  name: (value) => isText('name', value),
  ownerId: (value) => `owner_id = ${value}::uuid`,
  tagKey: (value) => `EXISTS (
    SELECT FROM asset_tag
     WHERE asset_tag.workspace_id = $1 AND asset_tag.asset_id = asset.id AND tag_key_id = (${tagKeyId(value)}))`,
  source: (value) => `source = ${value}::text`,
};

/** An exact filter whose index holds the assets of a value by facet, and those of a facet in the order of the id. */
export interface ListKey {
  readonly name: ExactFilter;
  /** The condition on the value $4. */
  readonly condition: string;
  /** The table of the index. A tag stands for its asset. */
  readonly table: 'asset' | 'asset_tag';
  /** The index holds cloud assets and others apart, and a second one holds them by type and facet. */
  readonly hasTypes: boolean;
  /** Another index holds all visible assets of a value in the order of the id. */
  readonly hasOrder: boolean;
  /** Sums counters of the value $4. Without it, assets are counted. */
  readonly counter: string | null;
  /** The counters are by type and facet, so they serve beside other filters too. */
  readonly countsFacets: boolean;
}

/** A list key with no more than an index. */
const plain = { table: 'asset', hasTypes: false, hasOrder: false, counter: null, countsFacets: false } as const;
const ofValue = (name: ExactFilter) => ({ ...plain, name, condition: CONDITIONS[name]('$4') });
const sumOf = (table: string, condition: string): string =>
  `SELECT coalesce(sum(n), 0) AS n FROM ${table} WHERE workspace_id = $1 AND ${condition}`;

/** An external id has none: {@link matchingStatement} lists it. */
export const LIST_KEYS: { readonly [Name in ExactFilter]?: ListKey } = {
  email: ofValue('email'),
  serialNumber: ofValue('serialNumber'),
  name: ofValue('name'),
  ownerId: {
    ...ofValue('ownerId'),
    hasTypes: true,
    counter: sumOf('owner_count', 'owner_id = $4::uuid'),
  },
  tagKey: {
    ...plain,
    name: 'tagKey',
    table: 'asset_tag',
    condition: `tag_key_id = (SELECT id FROM chosen)`,
    hasTypes: true,
    hasOrder: true,
    counter: sumOf('tag_count', 'tag_key_id = (SELECT id FROM chosen)'),
    countsFacets: true,
  },
  source: {
    ...ofValue('source'),
    hasTypes: true,
    counter: sumOf('source_count', 'source = $4::text'),
    countsFacets: true,
  },
};

/** Finds the tag key $4 once for all branches. */
export const CHOSEN_TAG_KEY = `WITH chosen AS MATERIALIZED (${tagKeyId('$4')})`;

/** The sources of the workspace, by one index look-up each. */
const KNOWN_SOURCES = `
  RECURSIVE known AS (
    (SELECT source AS name FROM source_count WHERE workspace_id = $1 ORDER BY source LIMIT 1)
    UNION ALL
    SELECT (SELECT source FROM source_count WHERE workspace_id = $1 AND source > known.name ORDER BY source LIMIT 1)
      FROM known WHERE known.name IS NOT NULL),`;

const ofTag = (key: string): string => `
  (SELECT asset_id FROM asset_tag
    WHERE workspace_id = $1 AND facet IS NOT NULL AND tag_key_id = (${tagKeyId(key)})) AS tagged
  CROSS JOIN LATERAL (SELECT * FROM asset WHERE workspace_id = $1 AND id = tagged.asset_id LIMIT 1) AS asset`;

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
    if (name === 'tagKey' && first === name) return 'true';
    return name === first ? condition : `(${valueOf(name)}::text IS NULL OR ${condition})`;
  });
  const isExternal = first === 'externalId';
  const ofFirst = isExternal ? ofEverySource : first === 'tagKey' ? ofTag : () => 'asset';
  return {
    name: `asset_list_matching_1_${first}`,
    text: `
      WITH ${isExternal ? KNOWN_SOURCES : ''} matching AS MATERIALIZED (
        SELECT asset.id FROM ${ofFirst(valueOf(first))}
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
