import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { type EntityManager, In } from 'typeorm';
import { AssetRow, AssetTagRow } from '../../assets/typeorm/asset.row';
import { AssetVersionRow } from '../../assets/typeorm/former-asset.row';
import { ComputerRow } from '../../assets/typeorm/computer.row';

const BATCH = 1_000;

/** The place of a removed asset in the feed: its change set, and its place in the set. */
interface Place {
  readonly sequence: string;
  readonly change_id: string;
  readonly sub_key: number;
  readonly id: string;
}
const START: Place = { sequence: '0', change_id: '0', sub_key: 0, id: '0' };

/** Removed assets in the order of the feed, of sets before a time. $1 workspace, $2 time, $3 to $5 the last place. */
const FIND = `
  SELECT change.sequence, change.id AS change_id, item.sub_key, item.id
    FROM (SELECT sequence, id FROM change_set
           WHERE workspace_id = $1 AND sequence >= $3::bigint AND changed_at < $2 AND NOT emptied) AS change
   CROSS JOIN LATERAL (
     SELECT sub_key, id FROM asset
      WHERE workspace_id = $1 AND change_id = change.id AND facet IS NULL
        AND (change.sequence > $3::bigint OR (sub_key, id) > ($4::smallint, $5::bigint))
      ORDER BY sub_key, id LIMIT ${BATCH}) AS item
   ORDER BY change.sequence, item.sub_key, item.id LIMIT ${BATCH}`;

/** Locks those that have not changed since and own nothing, in the order of the ids, like every other writer. */
const LOCK = `
  SELECT id FROM asset
   WHERE workspace_id = $1 AND id = ANY ($2::bigint[]) AND facet IS NULL AND change_id = ANY ($3::bigint[])
     AND NOT EXISTS (SELECT FROM asset AS owned WHERE owned.workspace_id = $1 AND owned.owner_id = asset.public_id)
   ORDER BY id FOR UPDATE`;

/** Assets that are hidden or deleted. Clients no longer see them, but feeds tell of their removal. */
@Injectable()
export class RemovedAssets {
  constructor(private readonly database: Database) {}

  /**
   * Deletes those that were removed before this time, for good. Feeds refuse every cursor that could miss a removal with
   * `410 cursor_expired`. Employees who still own something stay. `onProgress` may throw to stop between batches.
   */
  async purge(workspaceId: WorkspaceId, before: Date, onProgress: (purged: number) => void): Promise<number> {
    let purged = 0;
    for (let place = START; ;) {
      const { sequence, sub_key, id } = place;
      const found = await this.database.inTenant({ workspaceId }, (manager) =>
        manager.query<Place[]>(FIND, [workspaceId, before, sequence, sub_key, id]),
      );
      const last = found.at(-1);
      if (!last) return purged;
      // With statistics of before the assets came, Postgres would look for what each owns among all assets. A migration or
      // a vacuum that holds the table is not waited for.
      if (place === START)
        await this.database.inTenant({ workspaceId }, (manager) => manager.query('ANALYZE (SKIP_LOCKED) asset'));
      purged += await this.database.inTenant({ workspaceId }, (manager) => purgeBatch(manager, workspaceId, found));
      place = last;
      onProgress(purged);
    }
  }
}

/** Returns how many of those that were found are deleted. Some have changed since. */
async function purgeBatch(manager: EntityManager, workspaceId: WorkspaceId, found: readonly Place[]): Promise<number> {
  const candidates = [found.map((place) => place.id), [...new Set(found.map((place) => place.change_id))]];
  const locked = await manager.query<{ id: string }[]>(LOCK, [workspaceId, ...candidates]);
  const purged = new Set(locked.map((row) => row.id));
  const newest = found.findLast((place) => purged.has(place.id));
  if (newest) {
    const ids = In([...purged]);
    await manager.delete(AssetVersionRow, { workspace_id: workspaceId, id: ids });
    await manager.delete(AssetTagRow, { workspace_id: workspaceId, asset_id: ids });
    await manager.delete(ComputerRow, { workspace_id: workspaceId, asset_id: ids });
    await manager.delete(AssetRow, { workspace_id: workspaceId, id: ids });
    await manager.query(
      `UPDATE change_head SET purged_sequence = GREATEST(purged_sequence, $2::bigint) WHERE workspace_id = $1`,
      [workspaceId, newest.sequence],
    );
  }
  return purged.size;
}
