import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { reconcile } from '#libs/platform/lists';
import { ASSET_TYPES } from '../domain/asset-category';
import { ASSET_LIST } from './asset-list';
import { COMPUTER } from './asset.row';
import { postureOf } from './computer.row';

interface Difference {
  readonly counted: number;
  readonly actual: number;
}

/** A counter that differs from a full count of its assets. */
export interface CounterDifference extends Difference {
  /** The type of the assets, as clients read it. */
  readonly subKey: string;
  /** Classification (0 unknown to 3 confidential) × 4, + 2 with an owner, + 1 with a description. */
  readonly facet: number;
}

/** A count of the assets of one value of a filter that differs from a full count. */
export interface ValueDifference extends Difference {
  readonly filter: string;
  /** The value with type and facet, as its counts are by both. */
  readonly value: string;
}

export interface CounterReconciliation {
  /** Visible assets of the workspace. */
  readonly assets: number;
  /** The wrong counters, by type and facet. They are corrected by now. */
  readonly wrong: readonly CounterDifference[];
  /** The wrong counts of tag keys and sources. They are corrected by now. */
  readonly wrongValues: readonly ValueDifference[];
  /** Number of computers whose posture was not that of their checks. They are corrected by now. */
  readonly wrongComputers: number;
}

const COUNT_ASSETS = 'SELECT coalesce(sum(n), 0)::float8 AS n FROM facet_count WHERE workspace_id = $1';

/** Corrects a batch of postures. Locks in the order of the ids, like every other writer, and then looks again. */
const CORRECT_POSTURES = `
  WITH locked AS (
    SELECT asset.id, ${postureOf('computer')} AS posture
      FROM asset LEFT JOIN computer ON computer.workspace_id = $1 AND computer.asset_id = asset.id
     WHERE asset.workspace_id = $1 AND asset.sub_key = ${COMPUTER}
       AND asset.posture IS DISTINCT FROM ${postureOf('computer')}
     ORDER BY asset.id LIMIT 2000 FOR NO KEY UPDATE OF asset
  ), corrected AS (
    UPDATE asset SET posture = locked.posture FROM locked WHERE asset.workspace_id = $1 AND asset.id = locked.id
  )
  SELECT count(*)::float8 AS n FROM locked`;

/** The counters behind the totals of lists, and the postures of computers. Writers normally keep both exact. */
@Injectable()
export class AssetCounters {
  constructor(private readonly database: Database) {}

  /**
   * Compares every counter of the workspace with a full count, each kind in one snapshot, and corrects the differences.
   * Assets may change meanwhile: changes do not wait, and each is counted exactly once. Concurrent repairs of one
   * workspace take turns.
   */
  async reconcile(workspaceId: WorkspaceId): Promise<CounterReconciliation> {
    const wrong: CounterDifference[] = [];
    const wrongValues: ValueDifference[] = [];
    for (const { filter, value, cell, ...counts } of await reconcile(this.database, workspaceId, ASSET_LIST.declared)) {
      const [subKey = 0, facet = 0] = cell;
      const type = ASSET_TYPES[subKey - 1] ?? `unknown (${subKey})`;
      if (filter === null) wrong.push({ subKey: type, facet, ...counts });
      else wrongValues.push({ filter, value: `${value} ${type} ${facet}`, ...counts });
    }
    let wrongComputers = 0;
    for (let corrected = -1; corrected !== 0; wrongComputers += corrected) {
      corrected = await this.read(workspaceId, CORRECT_POSTURES);
    }
    return { assets: await this.read(workspaceId, COUNT_ASSETS), wrong, wrongValues, wrongComputers };
  }

  private async read(workspaceId: WorkspaceId, sql: string): Promise<number> {
    const rows = await this.database.inTenant({ workspaceId }, (manager) =>
      manager.query<{ n: number }[]>(sql, [workspaceId]),
    );
    return rows[0]?.n ?? 0;
  }
}
