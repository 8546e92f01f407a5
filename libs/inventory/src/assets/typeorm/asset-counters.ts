import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database, type KeptCounts, type WrongCount, reconcileCounts, repairRows } from '#libs/platform/database';
import { ASSET_TYPES } from '../domain/asset-category';

/** A counter that differs from a full count of its assets. */
export interface CounterDifference extends WrongCount {
  /** The type of the assets, as clients read it. */
  readonly subKey: string;
  /** Classification (0 unknown to 3 confidential) × 4, + 2 with an owner, + 1 with a description. */
  readonly facet: number;
}

/** A count of the assets of one value of a filter that differs from a full count. */
export interface ValueDifference extends WrongCount {
  readonly filter: 'ownerId' | 'tagKey' | 'source';
  /** The value; that of a tag key or source with type and facet, as its counts are by both. */
  readonly value: string;
}

export interface CounterReconciliation {
  /** Visible assets of the workspace. */
  readonly assets: number;
  /** The wrong counters, by type and facet. They are corrected by now. */
  readonly wrong: readonly CounterDifference[];
  /** The wrong counts of owners, tag keys and sources. They are corrected by now. */
  readonly wrongValues: readonly ValueDifference[];
  /** Number of assets that the filter `tagKey` found wrongly or not at all. They are corrected by now. */
  readonly wrongTagged: number;
}

const TYPE = `coalesce((ARRAY['${ASSET_TYPES.join("', '")}'])[sub_key], 'unknown (' || sub_key || ')')`;
const visible = (keys: string, condition = 'true', table = 'asset'): string => `
  SELECT ${keys}, count(*) AS n FROM ${table}
   WHERE workspace_id = $1 AND facet IS NOT NULL AND ${condition} GROUP BY ${keys}`;
const byKeys = (table: string, keys: string) => ({ table, keys, actual: visible(keys), hasOneRow: true });

const FACETS: KeptCounts = {
  ...byKeys('facet_count', 'sub_key, facet'),
  shown: `${TYPE} AS "subKey", facet`,
};
const FACETS_OF = 'sub_key, facet';
const OF_FACET = `' ' || ${TYPE} || ' ' || facet AS value`;
const TAG_KEY = `SELECT key FROM tag_key WHERE workspace_id = $1 AND tag_key.id = tag_key_id`;
const VALUES: Readonly<Record<ValueDifference['filter'], KeptCounts>> = {
  ownerId: {
    table: 'owner_count',
    keys: 'owner_id',
    actual: visible('owner_id', 'owner_id IS NOT NULL'),
    shown: 'owner_id::text AS value',
  },
  tagKey: {
    table: 'tag_count',
    keys: `tag_key_id, ${FACETS_OF}`,
    // By the tags' own columns, which were repaired before.
    actual: visible(`tag_key_id, ${FACETS_OF}`, 'true', 'asset_tag'),
    shown: `coalesce((${TAG_KEY}), tag_key_id::text) || ${OF_FACET}`,
  },
  source: {
    ...byKeys('source_count', `source, ${FACETS_OF}`),
    shown: `source || ${OF_FACET}`,
  },
};

const COUNT_ASSETS = 'SELECT coalesce(sum(n), 0)::float8 AS n FROM facet_count WHERE workspace_id = $1';

const DIFFERS = '(asset_tag.sub_key, asset_tag.facet) IS DISTINCT FROM (asset.sub_key, asset.facet)';
/** Tags that say another type or facet than their assets have. The filter `tagKey` finds assets by these columns. */
const TAGS = [
  `SELECT DISTINCT asset.id FROM asset_tag JOIN asset ON asset.workspace_id = $1 AND asset.id = asset_tag.asset_id
    WHERE asset_tag.workspace_id = $1 AND ${DIFFERS} ORDER BY id`,
  // Nobody changes one of them before its tags are repaired. In the order of the ids, like every other writer.
  'SELECT FROM asset WHERE workspace_id = $1 AND id = ANY ($2::bigint[]) ORDER BY id FOR NO KEY UPDATE',
  `UPDATE asset_tag SET sub_key = asset.sub_key, facet = asset.facet
     FROM asset
    WHERE asset_tag.workspace_id = $1 AND asset_tag.asset_id = ANY ($2::bigint[])
      AND asset.workspace_id = $1 AND asset.id = asset_tag.asset_id AND ${DIFFERS}`,
] as const;

/** The counters behind the totals of filtered lists. Database triggers normally keep them exact. */
@Injectable()
export class AssetCounters {
  constructor(private readonly database: Database) {}

  /**
   * Compares every counter of the workspace with a full count, each kind in one snapshot, and corrects the differences.
   * Assets may change meanwhile: changes do not wait, and each is counted exactly once. Concurrent repairs of one
   * workspace take turns.
   */
  async reconcile(workspaceId: WorkspaceId): Promise<CounterReconciliation> {
    const { database } = this;
    const wrong = await reconcileCounts<Omit<CounterDifference, keyof WrongCount>>(database, workspaceId, FACETS);
    // The counts of tags follow, as triggers keep them.
    const wrongTagged = await repairRows(database, workspaceId, TAGS);
    const wrongValues: ValueDifference[] = [];
    for (const filter of ['ownerId', 'tagKey', 'source'] as const) {
      const found = await reconcileCounts<{ value: string }>(database, workspaceId, VALUES[filter]);
      wrongValues.push(...found.map((one) => ({ filter, ...one })));
    }
    const [assets] = await database.inTenant({ workspaceId }, (manager) =>
      manager.query<{ n: number }[]>(COUNT_ASSETS, [workspaceId]),
    );
    return { assets: assets?.n ?? 0, wrong, wrongValues, wrongTagged };
  }
}
