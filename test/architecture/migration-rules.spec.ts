import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MigrationRules, type RecordedMigration } from './migration-rules';
import { root } from './project-files';
import { recordedMigrations, timeOf } from './recorded-migrations';
import { RELEASES } from './released-migrations';

const releaseOf = (migration: RecordedMigration): number =>
  RELEASES.findLastIndex(({ firstMigration }) => firstMigration <= timeOf(migration));

/** Returns the faults of each migration, taking everything from earlier releases as in use. */
function faultsOf(migrations: readonly RecordedMigration[]): string[] {
  return migrations.flatMap((migration) => {
    const earlier = migrations.filter((one) => releaseOf(one) < releaseOf(migration));
    const existing = new Set(earlier.flatMap((one) => MigrationRules.tablesMadeBy(one)));
    return MigrationRules.faultsOf(migration, existing).map((fault) => `${migration.name}: ${fault}`);
  });
}

const planted = (queries: readonly string[], transaction = true): string[] =>
  MigrationRules.faultsOf({ name: 'Planted', transaction, queries }, new Set(['asset', 'computer']));

describe('Migrations', () => {
  it('follow expand and contract', async () => {
    const migrations = await recordedMigrations();
    expect(migrations.flatMap((one) => MigrationRules.tablesMadeBy(one))).toEqual(
      expect.arrayContaining(['workspace', 'asset', 'audit_event', 'idempotency_record']),
    );
    const faults = faultsOf(migrations);
    if (faults.length === 0) return;
    throw new Error(
      `${faults.join('\n')}\ndocs/changing-the-api.md says how to do each in steps. Then run: npm run t -- migration-rules entities`,
    );
  });

  it('belong to releases, and the newest release is the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(RELEASES.at(-1)?.version).toBe(version);
    const firsts = RELEASES.map(({ firstMigration }) => firstMigration);
    expect(firsts).toEqual([...firsts].sort((one, other) => one - other));
  });

  it('may change tables of their own release in ways that are forbidden for older ones', () => {
    const make = { name: 'Make1780000000030', transaction: true, queries: ['CREATE TABLE note (id int)'] };
    const index = { name: 'Index1780000000031', transaction: true, queries: ['CREATE INDEX note_id ON note (id)'] };
    const later = { name: 'Later1790000000000', transaction: true, queries: ['CREATE INDEX later ON note (id)'] };
    expect(faultsOf([make, index])).toEqual([]);
    const existing = new Set(MigrationRules.tablesMadeBy(make));
    expect(MigrationRules.faultsOf(later, existing)).toEqual([expect.stringContaining('add CONCURRENTLY')]);
  });

  it.each([
    ['CREATE INDEX a ON asset (name)', 'stops writes'],
    ['CREATE UNIQUE INDEX IF NOT EXISTS a ON public.asset (name)', 'stops writes'],
    ['-- harmless\n create index a on "asset" (name)', 'stops writes'],
    ['DROP INDEX asset_visible', 'add CONCURRENTLY'],
    ['REINDEX TABLE asset', 'add CONCURRENTLY'],
    ['REFRESH MATERIALIZED VIEW totals', 'add CONCURRENTLY'],
    ['CREATE INDEX CONCURRENTLY a ON asset (name)', 'transaction = false'],
    ['ALTER TABLE asset ALTER COLUMN region SET NOT NULL', 'reads the whole table'],
    ['ALTER TABLE asset ALTER region SET NOT NULL -- proved: ', 'reads the whole table'],
    ['ALTER TABLE asset ALTER COLUMN version TYPE bigint', 'rewrites the table'],
    ['ALTER TABLE asset ALTER COLUMN version SET DATA TYPE bigint', 'rewrites the table'],
    ['ALTER TABLE asset SET UNLOGGED', 'rewrites the table'],
    ['ALTER TABLE asset ADD COLUMN a uuid DEFAULT gen_random_uuid()', 'differs from row to row'],
    ['ALTER TABLE asset ADD a timestamptz NOT NULL DEFAULT clock_timestamp()', 'differs from row to row'],
    ['ALTER TABLE asset ADD COLUMN a text NOT NULL', 'cannot be added'],
    ['ALTER TABLE asset ADD COLUMN a int GENERATED ALWAYS AS (version) STORED', 'rewrites the table'],
    ['ALTER TABLE asset ADD COLUMN a bigserial', 'rewrites the table'],
    ['ALTER TABLE asset ADD COLUMN b int, ADD COLUMN a int CHECK (a > 0)', 'NOT VALID'],
    ['ALTER TABLE asset ADD COLUMN a uuid REFERENCES workspace (id)', 'NOT VALID'],
    ['ALTER TABLE asset ADD CONSTRAINT a CHECK (version > 0)', 'NOT VALID'],
    ['ALTER TABLE asset ADD FOREIGN KEY (workspace_id) REFERENCES workspace (id)', 'NOT VALID'],
    ['ALTER TABLE asset ADD CONSTRAINT a UNIQUE (name)', 'USING INDEX'],
    ['ALTER TABLE asset ADD PRIMARY KEY (id)', 'USING INDEX'],
    ['ALTER TABLE asset DROP COLUMN region', 'since which release'],
    ['ALTER TABLE asset DROP region', 'since which release'],
    ['ALTER TABLE asset RENAME COLUMN region TO zone', 'old name only'],
    ['ALTER TABLE asset RENAME TO assets', 'old name only'],
    ['DROP TABLE computer', 'since which release'],
    ['DROP VIEW visible_computer', 'since which release'],
    ['DROP FUNCTION seal_audit_events', 'since which release'],
    ['LOCK TABLE asset IN EXCLUSIVE MODE', 'keeps everybody else out'],
    ['TRUNCATE asset', 'keeps everybody else out'],
    ['CLUSTER asset', 'keeps everybody else out'],
    ['VACUUM FULL asset', 'keeps everybody else out'],
    [`UPDATE asset SET region = 'none'`, 'in batches'],
    ['DELETE FROM ONLY asset WHERE visibility = 2', 'in batches'],
    [`DO $$ BEGIN UPDATE asset SET region = 'none'; END $$`, 'in batches'],
    [`DO $$ BEGIN EXECUTE format('DROP TABLE %I', 'asset'); END $$`, 'nobody can check'],
    ['SET LOCAL lock_timeout = 0', 'not for a migration to choose'],
    ['RESET lock_timeout', 'not for a migration to choose'],
    [`SELECT set_config('lock_timeout', '0', true)`, 'not for a migration to choose'],
    // Other spellings of the same.
    ['CREATE INDEX ON asset (name)', 'stops writes'],
    ['CREATE TABLE IF NOT EXISTS asset (id int); CREATE INDEX a ON asset (name)', 'stops writes'],
    ['ALTER TABLE IF EXISTS ONLY asset ALTER COLUMN version TYPE bigint', 'rewrites the table'],
    ['ALTER TABLE public . asset ALTER COLUMN version TYPE bigint', 'rewrites the table'],
    ['ALTER TABLE asset * ALTER COLUMN version TYPE bigint', 'rewrites the table'],
    [`SELECT E'\\''; LOCK TABLE asset; SELECT E'\\''`, 'keeps everybody else out'],
    ['LOCK note, asset', 'keeps everybody else out'],
    ['TRUNCATE note, asset', 'keeps everybody else out'],
    ['VACUUM (FULL, ANALYZE) asset', 'keeps everybody else out'],
    ['CLUSTER', 'keeps everybody else out'],
    ['ALTER INDEX asset_visible SET TABLESPACE fast', 'keeps everybody else out'],
    ['ALTER TABLE asset ADD COLUMN a serial8', 'rewrites the table'],
    ['ALTER TABLE asset ALTER COLUMN a SET EXPRESSION AS (version + 1)', 'rewrites the table'],
    [`ALTER TABLE asset ADD a timestamptz DEFAULT now() + random() * interval '1 day'`, 'differs from row to row'],
    [`WITH some AS (SELECT id FROM asset) UPDATE asset SET region = '' FROM some`, 'in batches'],
    ['WITH gone AS (DELETE FROM asset RETURNING id) SELECT 1', 'in batches'],
    [`MERGE INTO asset USING computer ON true WHEN MATCHED THEN UPDATE SET region = ''`, 'in batches'],
    ['CREATE TABLE note (id int); INSERT INTO note SELECT id FROM asset', 'in batches'],
    [`DO$$ BEGIN UPDATE asset SET region = 'none'; END $$`, 'in batches'],
    [`DO 'BEGIN UPDATE asset SET region = 1; END'`, 'nobody checks it'],
    ['ALTER DOMAIN name ADD CONSTRAINT a CHECK (VALUE > 0)', 'reads every table'],
    ['ALTER DOMAIN name SET NOT NULL', 'reads every table'],
    // An instance of the previous release would miss these.
    ['ALTER TABLE asset DROP identity_provider', 'since which release'],
    ['ALTER TABLE asset ALTER COLUMN visibility DROP DEFAULT', 'since which release'],
    ['ALTER TYPE place DROP ATTRIBUTE city', 'since which release'],
    ['ALTER SEQUENCE place RENAME TO places', 'old name only'],
    ['ALTER TABLE asset SET SCHEMA archive', 'old name only'],
    ['DROP TRIGGER count_assets ON asset', 'since which release'],
    ['DROP POLICY tenant ON asset', 'since which release'],
    ['DROP EXTENSION pgcrypto CASCADE', 'since which release'],
    ['REVOKE SELECT ON asset FROM compliance_api', 'since which release'],
    ['ALTER TABLE asset DISABLE ROW LEVEL SECURITY', 'counts on it'],
    ['ALTER TABLE asset NO FORCE ROW LEVEL SECURITY', 'counts on it'],
    ['ALTER TABLE asset DISABLE TRIGGER ALL', 'counts on it'],
  ])('refuse %s', (query, because) => {
    expect(planted([query])).toEqual([expect.stringContaining(because)]);
  });

  it('validate a constraint in a later transaction than the one that adds it', () => {
    const add = 'ALTER TABLE asset ADD CONSTRAINT a CHECK (version > 0) NOT VALID';
    const validate = 'ALTER TABLE asset VALIDATE CONSTRAINT a';
    expect(planted([add])).toEqual([]);
    expect(planted([validate])).toEqual([]);
    expect(planted([add, validate])).toEqual([expect.stringContaining('a migration of its own')]);
  });

  it('build an index CONCURRENTLY in a migration of its own, after dropping a failed attempt', () => {
    const [drop, create] = ['DROP INDEX CONCURRENTLY IF EXISTS a', 'CREATE INDEX CONCURRENTLY a ON asset (name)'];
    expect(planted(['SET lock_timeout = 0', drop, create], false)).toEqual([]);
    expect(planted([create], false)).toEqual([expect.stringContaining('a build that failed')]);
    expect(planted([`${drop}; ${create}`], false)).toEqual([expect.stringContaining('a query of its own')]);
  });

  it.each([
    'ALTER TABLE asset ADD COLUMN a text',
    `ALTER TABLE asset ADD COLUMN a text NOT NULL DEFAULT 'none', ADD COLUMN b timestamptz DEFAULT now()`,
    'ALTER TABLE asset DROP CONSTRAINT a',
    'ALTER TABLE asset ADD CONSTRAINT a UNIQUE USING INDEX b',
    '-- proved: by asset_region_check, validated in 1.2.0\nALTER TABLE asset ALTER COLUMN region SET NOT NULL',
    '-- contract: since 1.2.0 nothing reads it\nALTER TABLE asset DROP COLUMN region',
    '-- contract: since 1.2.0 nothing reads it\nDROP TABLE computer',
    '-- brief: only the catalog changes under it\nLOCK TABLE asset IN SHARE ROW EXCLUSIVE MODE',
    `/* small: one row a workspace */ UPDATE asset SET region = 'none'`,
    `COMMENT ON TABLE asset IS 'LOCK TABLE asset; DROP TABLE asset'`,
    `CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ UPDATE asset SET region = 'none' $$`,
    'CREATE TABLE note (id int); CREATE INDEX note_id ON note (id); UPDATE note SET id = 1',
    'CREATE INDEX new_one ON not_there_yet (id)',
    'CREATE TABLE IF NOT EXISTS note (id int); LOCK TABLE note; INSERT INTO note SELECT 1',
    `INSERT INTO asset (name) VALUES ('one') ON CONFLICT DO NOTHING`,
    'ALTER TABLE asset ADD COLUMN a timestamptz DEFAULT current_timestamp(3), ADD COLUMN b date DEFAULT CURRENT_DATE',
    'ALTER DOMAIN name ADD CONSTRAINT a CHECK (VALUE > 0) NOT VALID',
    'ALTER FUNCTION count_assets SET search_path = pg_catalog',
    'REVOKE ALL ON FUNCTION count_assets FROM PUBLIC',
    'CREATE TRIGGER a AFTER UPDATE ON asset EXECUTE FUNCTION f()',
    'GRANT UPDATE ON asset TO compliance_api',
  ])('accept %s', (query) => expect(planted([query])).toEqual([]));
});
