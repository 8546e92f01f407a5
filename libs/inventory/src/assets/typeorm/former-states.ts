/**
 * The first columns of former states, before any later migration added one: columns of `asset` and their types, and a
 * computer's agent version.
 */
export const FORMER_COLUMNS: Readonly<Record<string, string>> = {
  public_id: 'uuid',
  owner_id: 'uuid',
  sub_key: 'smallint',
  classification: 'smallint',
  owner_source: 'smallint',
  facet: 'smallint',
  posture: 'smallint',
  name: 'text',
  description: 'text',
  external_id: 'text',
  source: 'text',
  account_id: 'text',
  region: 'text',
  serial_number: 'text',
  operating_system: 'text',
  os_version: 'text',
  email: 'text',
  user_data_info: 'text',
  agent_version: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  last_checked_at: 'timestamptz',
  contains_patient_data: 'boolean',
  contains_user_data: 'boolean',
  version: 'integer',
  tags: 'jsonb',
};
/** Values that are no column of the former row. */
const KEPT: Readonly<Record<string, string>> = {
  agent_version: `CASE WHEN former.posture IS NOT NULL THEN (
                 SELECT agent_version FROM computer WHERE workspace_id = former.workspace_id AND asset_id = former.id) END`,
  name: `CASE WHEN former.erased_change_id = former.change_id THEN 'erased' ELSE former.name END`,
  email: 'CASE WHEN former.erased_change_id IS DISTINCT FROM former.change_id THEN former.email END',
};

/** Makes the trigger keep these columns. A migration adds a column to `asset` and `asset_version`, then calls this with all. */
export const keepFormerStates = (columns: readonly string[]): string => `
      CREATE OR REPLACE FUNCTION keep_former_asset() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
      BEGIN
        -- LIMIT 1 on the key: one index lookup for each row, whatever is known of old_rows. A row that row-level
        -- security hides from the function has no present state, and to_change must not be null.
        INSERT INTO asset_version (workspace_id, asset_id, from_change, to_change, ${columns.join(', ')})
        SELECT former.workspace_id, former.id, former.change_id, present.change_id,
               ${columns.map((column) => KEPT[column] ?? `former.${column}`).join(', ')}
          FROM old_rows AS former
          LEFT JOIN LATERAL (
            SELECT change_id FROM asset WHERE workspace_id = former.workspace_id AND id = former.id LIMIT 1
          ) AS present ON true
         WHERE present.change_id IS DISTINCT FROM former.change_id;
        RETURN NULL;
      END $$;`;

/** Makes the view `former_asset` show these columns. New ones come last. */
export const showFormerStates = (columns: readonly string[]): string => `
      CREATE OR REPLACE VIEW former_asset WITH (security_invoker = true) AS
        SELECT workspace_id, asset_id AS id, id AS version_id, from_change, to_change, ${columns.join(', ')}
          FROM asset_version;`;
