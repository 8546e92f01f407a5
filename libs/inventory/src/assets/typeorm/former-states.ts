import type { QueryRunner } from 'typeorm';

/** Values that are not those of the former row. */
const KEPT: Readonly<Record<string, string>> = {
  to_change: 'present.change_id',
  agent_version: `CASE WHEN former.posture IS NOT NULL THEN (
                 SELECT agent_version FROM computer WHERE workspace_id = former.workspace_id AND asset_id = former.id) END`,
  name: `CASE WHEN former.erased_change_id = former.change_id THEN 'erased' ELSE former.name END`,
  email: 'CASE WHEN former.erased_change_id IS DISTINCT FROM former.change_id THEN former.email END',
};

/** Makes the trigger keep all columns of `asset_version`. A migration adds one there and to `asset`, and then calls this. */
export async function keepFormerStates(runner: QueryRunner): Promise<void> {
  const found = (await runner.query(`
      SELECT quote_ident(attname) AS name FROM pg_attribute
       WHERE attrelid = 'asset_version'::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = ''
       ORDER BY attnum`)) as { readonly name: string }[];
  const columns = found.map(({ name }) => name);
  await runner.query(`
      CREATE OR REPLACE FUNCTION keep_former_asset() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
        SET enable_seqscan = off SET enable_bitmapscan = off AS $$
      BEGIN
        -- LIMIT 1 on the key and no other scan: one index lookup for each row, whatever is known of the tables. A row
        -- that row-level security hides from the function has no present state, and to_change must not be null.
        INSERT INTO asset_version (${columns.join(', ')})
        SELECT ${columns.map((column) => KEPT[column] ?? `former.${column}`).join(', ')}
          FROM old_rows AS former
          LEFT JOIN LATERAL (
            SELECT change_id FROM asset WHERE workspace_id = former.workspace_id AND id = former.id LIMIT 1
          ) AS present ON true
         WHERE present.change_id IS DISTINCT FROM former.change_id;
        RETURN NULL;
      END $$;`);
}
