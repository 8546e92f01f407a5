import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { EntityManager } from 'typeorm';
import { ASSET_TYPES } from '../domain/asset-category';
import { repairTaggedAssets } from './tagged-assets';

/** A counter that differs from a full count of its assets. */
export interface CounterDifference {
  /** The type of the assets, as clients read it. */
  readonly subKey: string;
  /** Classification (0 unknown to 3 confidential) × 4, + 2 with an owner, + 1 with a description. */
  readonly facet: number;
  /** Value of the counter. */
  readonly counted: number;
  /** Full count of the rows in the same snapshot. */
  readonly actual: number;
}

/** A count of the assets of one value of a filter that differs from a full count. */
export interface ValueDifference {
  readonly filter: 'ownerId' | 'tagKey' | 'source';
  /** The value; that of a source with type and facet, as its counts are by both. */
  readonly value: string;
  readonly counted: number;
  readonly actual: number;
}

export interface CounterReconciliation {
  /** Visible assets of the workspace, by a full count. */
  readonly assets: number;
  /** The wrong counters, by type and facet. They are corrected by now. */
  readonly wrong: readonly CounterDifference[];
  /** The wrong counts of owners, tag keys and sources. They are corrected by now. */
  readonly wrongValues: readonly ValueDifference[];
  /** Number of assets that the filter `tagKey` found wrongly or not at all. They are corrected by now. */
  readonly wrongTagged: number;
}

interface ComparedRow {
  readonly sub_key: number;
  readonly facet: number;
  /** A bigint as text. */
  readonly counted: string;
  readonly actual: string;
}

interface WrongValue {
  readonly value: string;
  readonly counted: string;
  readonly actual: string;
}

/** Two concurrent repairs would correct the same difference twice. Released at the end of the transaction. */
const TAKE_TURNS = `SELECT pg_advisory_xact_lock(hashtextextended('facet counters ' || $1, 0))`;

/**
 * One statement and so one snapshot: a change and its count commit together. Counts the assets in the index on exactly
 * these columns. Sorts by key, the order of the repair.
 */
const COMPARE = `
  SELECT sub_key, facet, COALESCE(kept.n, 0) AS counted, COALESCE(there.n, 0) AS actual
    FROM (SELECT sub_key, facet, count(*) AS n FROM asset
           WHERE workspace_id = $1 AND facet IS NOT NULL GROUP BY sub_key, facet) AS there
    FULL JOIN (SELECT sub_key, facet, n FROM facet_count WHERE workspace_id = $1) AS kept USING (sub_key, facet)
   ORDER BY sub_key, facet`;

/**
 * Adds the difference instead of setting the count. Concurrent changes alter counter and count alike, so the difference
 * stays correct and no counter is locked while millions of assets are counted. Arrays keep their order, so counters are
 * locked in the order of the comparison, like in the triggers.
 */
const REPAIR = `
  INSERT INTO facet_count AS kept (workspace_id, sub_key, facet, n)
  SELECT $1::uuid, sub_key, facet, difference
    FROM unnest($2::smallint[], $3::smallint[], $4::bigint[]) AS wrong (sub_key, facet, difference)
      ON CONFLICT (workspace_id, sub_key, facet) DO UPDATE SET n = kept.n + excluded.n`;

/**
 * Compares the counts of a table with a full count, and adds the differences, in one statement and so one snapshot.
 * `actual` counts assets by `keys`; `shown` is the value that the operator sees.
 */
const reconcileValues = (table: string, keys: string, actual: string, shown: string, conflict = ''): string => `
  WITH compared AS (
    SELECT ${keys}, sum(actual) AS actual, sum(counted) AS counted FROM (
      ${actual} GROUP BY ${keys}
      UNION ALL SELECT ${keys}, 0, n FROM ${table} WHERE workspace_id = $1) AS counts
     GROUP BY ${keys} HAVING sum(actual) <> sum(counted)
  ), repaired AS (
    INSERT INTO ${table} AS kept (workspace_id, ${keys}, n)
    SELECT $1::uuid, ${keys}, actual - counted FROM compared ORDER BY ${keys} ${conflict})
  SELECT ${shown} AS value, counted, actual FROM compared ORDER BY ${keys}`;

const OF_VISIBLE = 'count(*) AS actual, 0 AS counted FROM asset WHERE workspace_id = $1 AND facet IS NOT NULL';
const RECONCILE_VALUES: Readonly<Record<ValueDifference['filter'], string>> = {
  ownerId: reconcileValues(
    'owner_count',
    'owner_id',
    `SELECT owner_id, ${OF_VISIBLE} AND owner_id IS NOT NULL`,
    'owner_id::text',
  ),
  tagKey: reconcileValues(
    'tag_count',
    'tag_key_id',
    `SELECT tag_key_id, count(*) AS actual, 0 AS counted
       FROM asset_tag JOIN asset ON asset.workspace_id = $1 AND asset.id = asset_id
      WHERE asset_tag.workspace_id = $1 AND asset.facet IS NOT NULL`,
    `coalesce((SELECT key FROM tag_key WHERE workspace_id = $1 AND tag_key.id = tag_key_id), tag_key_id::text)`,
  ),
  source: reconcileValues(
    'source_count',
    'source, sub_key, facet',
    `SELECT source, sub_key, facet, ${OF_VISIBLE}`,
    `source || ' ' || (ARRAY['${ASSET_TYPES.join("', '")}'])[sub_key] || ' ' || facet`,
    'ON CONFLICT (workspace_id, source, sub_key, facet) DO UPDATE SET n = kept.n + excluded.n',
  ),
};

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
    const facets = await this.inTurn(workspaceId, (manager) => reconcileFacets(manager, workspaceId));
    const wrongValues: ValueDifference[] = [];
    // A transaction for each, because it holds the counters that it repairs.
    for (const filter of ['ownerId', 'tagKey', 'source'] as const) {
      const rows = await this.inTurn(workspaceId, (manager) =>
        manager.query<WrongValue[]>(RECONCILE_VALUES[filter], [workspaceId]),
      );
      for (const { value, counted, actual } of rows) {
        wrongValues.push({ filter, value, counted: Number(counted), actual: Number(actual) });
      }
    }
    return { ...facets, wrongValues, wrongTagged: await repairTaggedAssets(this.database, workspaceId) };
  }

  private inTurn<Result>(workspaceId: WorkspaceId, work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.database.inTenant({ workspaceId }, async (manager) => {
      await manager.query(TAKE_TURNS, [workspaceId]);
      return work(manager);
    });
  }
}

async function reconcileFacets(
  manager: EntityManager,
  workspaceId: WorkspaceId,
): Promise<Omit<CounterReconciliation, 'wrongValues' | 'wrongTagged'>> {
  const compared = await manager.query<ComparedRow[]>(COMPARE, [workspaceId]);
  const wrong = compared.filter(({ counted, actual }) => counted !== actual);
  if (wrong.length > 0) await repair(manager, workspaceId, wrong);
  return {
    assets: compared.reduce((sum, { actual }) => sum + Number(actual), 0),
    wrong: wrong.map((row) => ({
      subKey: ASSET_TYPES[row.sub_key - 1] ?? `unknown (${row.sub_key})`,
      facet: row.facet,
      counted: Number(row.counted),
      actual: Number(row.actual),
    })),
  };
}

async function repair(manager: EntityManager, workspaceId: WorkspaceId, wrong: readonly ComparedRow[]): Promise<void> {
  await manager.query(REPAIR, [
    workspaceId,
    wrong.map(({ sub_key }) => sub_key),
    wrong.map(({ facet }) => facet),
    wrong.map(({ counted, actual }) => String(BigInt(actual) - BigInt(counted))),
  ]);
}
