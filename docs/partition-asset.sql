-- Makes `asset` a table of 16 partitions by workspace. Run by the owner of the database, with the API stopped, then run
-- `admin migrate`, which grants the runtime role its rights anew. One transaction: it takes place whole or not at all.
--   psql "$MIGRATION_DATABASE_URL" -v ON_ERROR_STOP=1 --single-transaction -f partition-asset.sql
DO $$
DECLARE
  partitions CONSTANT integer := 16;
  old CONSTANT regclass := 'asset'::regclass;
  copied text;
  again text[];
  statement text;
  counted bigint;
BEGIN
  LOCK TABLE asset IN ACCESS EXCLUSIVE MODE;
  -- Forced row-level security would hide every row from its owner.
  ALTER TABLE asset NO FORCE ROW LEVEL SECURITY;
  SELECT count(*) INTO counted FROM asset;

  SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) INTO copied
    FROM pg_attribute WHERE attrelid = old AND attnum > 0 AND NOT attisdropped AND attgenerated = '';

  -- Everything that hangs on the table, as statements that make it anew under the same name.
  SELECT array_agg(definition ORDER BY place) INTO again FROM (
    SELECT 1, format('ALTER TABLE asset ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE conrelid = old AND contype = 'p'
    UNION ALL
    SELECT 2, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = old AND NOT indisprimary
    UNION ALL
    SELECT 3, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE contype = 'f' AND (conrelid = old OR confrelid = old)
    UNION ALL
    SELECT 4, pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = old AND NOT tgisinternal
    UNION ALL
    SELECT 5, format('CREATE POLICY %I ON asset FOR %s TO %s USING (%s)%s', policyname, cmd,
                     array_to_string(roles, ', '), qual, ' WITH CHECK (' || with_check || ')')
      FROM pg_policies WHERE schemaname = 'public' AND tablename = 'asset'
    UNION ALL
    SELECT DISTINCT 6, format('CREATE VIEW %s WITH (%s) AS %s', view.oid::regclass,
                              array_to_string(view.reloptions, ', '), pg_get_viewdef(view.oid))
      FROM pg_depend
      JOIN pg_rewrite AS rule ON classid = 'pg_rewrite'::regclass AND objid = rule.oid
      JOIN pg_class AS view ON view.oid = ev_class AND view.relkind = 'v'
     WHERE refclassid = 'pg_class'::regclass AND refobjid = old
  ) AS needed (place, definition);

  FOR statement IN
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
      FROM pg_constraint WHERE contype = 'f' AND confrelid = old
    UNION ALL
    SELECT DISTINCT format('DROP VIEW %s', ev_class::regclass)
      FROM pg_depend JOIN pg_rewrite AS rule ON classid = 'pg_rewrite'::regclass AND objid = rule.oid
     WHERE refclassid = 'pg_class'::regclass AND refobjid = old
  LOOP EXECUTE statement; END LOOP;

  ALTER TABLE asset RENAME TO asset_before;
  CREATE TABLE asset (LIKE asset_before INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING IDENTITY
                      INCLUDING CONSTRAINTS INCLUDING COMMENTS) PARTITION BY HASH (workspace_id);
  FOR part IN 0 .. partitions - 1 LOOP
    EXECUTE format('CREATE TABLE asset_%s PARTITION OF asset FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                   part, partitions, part);
    EXECUTE format('ALTER TABLE asset_%s ALTER COLUMN facet SET (n_distinct = 16), ALTER COLUMN sub_key SET (n_distinct = 15)', part);
  END LOOP;
  EXECUTE format('INSERT INTO asset (%1$s) OVERRIDING SYSTEM VALUE SELECT %1$s FROM asset_before', copied);
  PERFORM setval(pg_get_serial_sequence('asset', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM asset), false);
  IF (SELECT count(*) FROM asset) <> counted THEN
    RAISE EXCEPTION 'not every asset was copied';
  END IF;
  DROP TABLE asset_before;
  -- Imports and grants name the sequence.
  EXECUTE format('ALTER SEQUENCE %s RENAME TO asset_id_seq', pg_get_serial_sequence('asset', 'id'));

  FOREACH statement IN ARRAY again LOOP EXECUTE statement; END LOOP;
  ALTER TABLE asset ENABLE ROW LEVEL SECURITY;
  ALTER TABLE asset FORCE ROW LEVEL SECURITY;
END $$;
ANALYZE asset;
