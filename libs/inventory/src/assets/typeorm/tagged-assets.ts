import type { WorkspaceId } from '#libs/kernel';
import type { Database } from '#libs/platform/database';

const DIFFERS = '(asset_tag.sub_key, asset_tag.facet) IS DISTINCT FROM (asset.sub_key, asset.facet)';

/** Assets whose tags say another type or facet than they have. The filter `tagKey` finds assets by these columns. */
const FIND_WRONG = `
  SELECT DISTINCT asset.id FROM asset_tag JOIN asset ON asset.workspace_id = $1 AND asset.id = asset_tag.asset_id
   WHERE asset_tag.workspace_id = $1 AND ${DIFFERS} ORDER BY id`;

/** Nobody changes one of them before its tags are repaired. In the order of the ids, like every other writer. */
const LOCK = `SELECT FROM asset WHERE workspace_id = $1 AND id = ANY ($2::bigint[]) ORDER BY id FOR NO KEY UPDATE`;
const REPAIR = `
  UPDATE asset_tag SET sub_key = asset.sub_key, facet = asset.facet
    FROM asset
   WHERE asset_tag.workspace_id = $1 AND asset_tag.asset_id = ANY ($2::bigint[])
     AND asset.workspace_id = $1 AND asset.id = asset_tag.asset_id AND ${DIFFERS}`;
const BATCH = 2_000;

/** Repairs what the filter `tagKey` uses. Returns the number of assets that it found wrongly or not at all. */
export async function repairTaggedAssets(database: Database, workspaceId: WorkspaceId): Promise<number> {
  const wrong = await database.inTenant({ workspaceId }, (manager) =>
    manager.query<{ id: string }[]>(FIND_WRONG, [workspaceId]),
  );
  for (let start = 0; start < wrong.length; start += BATCH) {
    const values = [workspaceId, wrong.slice(start, start + BATCH).map(({ id }) => id)];
    await database.inTenant({ workspaceId }, async (manager) => {
      for (const statement of [LOCK, REPAIR]) await manager.query(statement, values);
    });
  }
  return wrong.length;
}
