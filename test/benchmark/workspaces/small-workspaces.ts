import { type WorkspaceId, workspaceId } from '#libs/kernel';
import type { BenchmarkDatabase } from '../benchmark-database';

const ASSETS_EACH = 30;

/**
 * Creates many workspaces of a few assets each, in one statement per table. The counters' triggers support one
 * workspace at a time, so the counters are inserted directly.
 */
export async function makeSmallWorkspaces({ admin }: BenchmarkDatabase, count: number): Promise<WorkspaceId[]> {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO workspace (slug, name) SELECT 'small-' || n, 'Small' FROM generate_series(1, $1) AS n RETURNING id`,
    [count],
  );
  await admin.query('SET session_replication_role = replica');
  await admin.query(
    `INSERT INTO asset (workspace_id, source, external_id, sub_key, classification, name, description, change_id)
     SELECT workspace.id, 'demo', 'asset-' || n, 1 + n % 14, n % 4, 'Asset ' || n,
            CASE WHEN n % 2 = 0 THEN 'Kept by operations.' END, 0
       FROM workspace, generate_series(1, $1) AS n WHERE slug LIKE 'small-%'`,
    [ASSETS_EACH],
  );
  await admin.query(
    `INSERT INTO facet_count (workspace_id, sub_key, facet, n)
     SELECT workspace_id, sub_key, facet, count(*) FROM asset WHERE facet IS NOT NULL GROUP BY 1, 2, 3`,
  );
  await admin.query(
    `INSERT INTO source_count (workspace_id, source, sub_key, facet, n)
     SELECT workspace_id, source, sub_key, facet, count(*) FROM asset WHERE facet IS NOT NULL GROUP BY 1, 2, 3, 4`,
  );
  await admin.query('SET session_replication_role = DEFAULT');
  await admin.query('VACUUM ANALYZE');
  return rows.map(({ id }) => workspaceId(id));
}
