import { projectFiles, root } from './project-files';
import { recordedMigrations } from './recorded-migrations';
import { type SqlSource, partOf, sqlSourceOf, tableOwners, tablesIn } from './table-owners';

/**
 * Parts that name tables of another part. Views are the other door: their owner makes them, and everybody may read them.
 */
const EXCEPTIONS: readonly { readonly part: string; readonly tables: readonly string[]; readonly because: string }[] = [
  {
    part: 'inventory/assets',
    tables: ['workspace', 'tag_key', 'tag_count', 'day_count'],
    because: 'an update tags assets by key; its migrations make the tables of the whole inventory and of its history',
  },
  {
    part: 'inventory/assets',
    tables: ['change_set'],
    because: 'its triggers number the change of a writer without a ticket, and mark sets that lost all assets',
  },
  {
    part: 'inventory/tag-keys',
    tables: ['asset', 'asset_tag'],
    because: 'a deleted key leaves its assets in the same transaction, in one statement a batch',
  },
  {
    part: 'inventory/imports',
    tables: ['asset', 'asset_tag', 'computer', 'facet_count', 'source_count', 'tag_key'],
    because:
      'a merge writes 5,000 staged records into all tables of the inventory at once, and counts what it would hide',
  },
  {
    part: 'inventory/imports',
    tables: ['workspace'],
    because: 'operators and alerts know the workspace of an import by its slug',
  },
  {
    part: 'inventory/changes',
    tables: ['asset', 'asset_tag', 'asset_version', 'computer', 'change_set', 'change_head'],
    because: 'a purge finds removed assets by their place in the feed, and deletes them with their rows',
  },
  {
    part: 'inventory/history',
    tables: ['workspace', 'asset', 'asset_version', 'change_head', 'change_set', 'day_count'],
    because:
      'it makes the past of the demo, counts past days and removes or erases former states, across the tables of the inventory',
  },
  {
    part: 'platform/changes',
    tables: ['workspace'],
    because:
      'its tables refer to their tenant, which holds where its history begins, and its migration gives each workspace a first change set',
  },
  {
    part: 'computers',
    tables: ['asset', 'computer', 'facet_count'],
    because: 'the first migration of 1.0.0 made the view that the inventory makes today',
  },
  {
    part: 'audit',
    tables: ['workspace'],
    because: 'a stream that ends after its workspace was deleted leaves no event',
  },
  {
    part: 'console',
    tables: ['workspace'],
    because: 'its tables refer to their tenant, and every page shows the name of its workspace',
  },
  {
    part: 'apps/admin',
    tables: ['workspace', 'application', 'asset_version', 'facet_count'],
    because: 'the status counts rows of all parts, also of a schema that lacks migrations',
  },
];

const product = projectFiles().filter(
  (file) => /^(?:apps|libs)\/.*\.ts$/.test(file) && !/\.(?:spec|fake|contract)\.ts$/.test(file),
);
const owners = tableOwners(root, product);

/** Foreign tables that a source names. */
const foreignIn = ({ file, sql, imported }: SqlSource): { part: string; table: string; file: string }[] => {
  const named = [...sql.flatMap(tablesIn), ...imported].flatMap((name) => owners.get(name) ?? []);
  const part = partOf(file);
  const foreign = new Set(named.filter(({ owner }) => owner !== part).map(({ table }) => table));
  return [...foreign].map((table) => ({ part, table, file }));
};

/** The statements in the code, and the migrations as they run. */
async function foreignTables(): Promise<ReturnType<typeof foreignIn>> {
  const migrations = (await recordedMigrations()).map(({ name, queries }) => ({
    file: product.find((file) => file.includes(`/migrations/${name.slice(-13)}-`)) ?? name,
    sql: queries,
    imported: [],
  }));
  return [...product.map((file) => sqlSourceOf(root, file)), ...migrations].flatMap(foreignIn);
}

const isExcepted = ({ part, table }: { part: string; table: string }): boolean =>
  EXCEPTIONS.some((one) => one.part === part && one.tables.includes(table));

describe('A table', () => {
  it('belongs to the part with its entity', () => {
    expect(owners.get('asset')?.owner).toBe('inventory/assets');
    expect(owners.get('TagKeyRow')?.owner).toBe('inventory/tag-keys');
    expect(owners.get('change_set')?.owner).toBe('platform/changes');
    expect(owners.get('audit_event')?.owner).toBe('audit');
  });

  it('is named by its own part, or by one with a reason', async () => {
    const foreign = await foreignTables();

    expect(foreign.filter((one) => !isExcepted(one))).toEqual([]);
    const unused = EXCEPTIONS.flatMap(({ part, tables }) =>
      tables.filter((table) => !foreign.some((one) => one.part === part && one.table === table)),
    );
    expect(unused).toEqual([]);
  });

  it.each([
    'SELECT 1 FROM audit_event WHERE workspace_id = $1',
    'SELECT 1 FROM visible_computer AS one, public.audit_event AS other',
    'SELECT (SELECT max(sequence) FROM audit_event) FROM visible_computer',
    'WITH gone AS (DELETE FROM ONLY audit_event RETURNING id) SELECT 1',
    'DELETE FROM visible_computer USING audit_event WHERE true',
    'INSERT INTO audit_event (id) VALUES (1)',
    `UPDATE audit_event SET action = 'FROM asset'`,
    'CREATE INDEX CONCURRENTLY one ON audit_event (id)',
    'CREATE TRIGGER one AFTER INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION f()',
    'CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ TRUNCATE audit_event $$',
    'ALTER TABLE IF EXISTS audit_event ADD COLUMN a text',
    'CREATE TABLE one (id bigint REFERENCES audit_event (id))',
  ])('is found in %s', (sql) => {
    const planted = { file: 'libs/computers/src/typeorm/planted.ts', sql: [sql], imported: [] };

    expect(foreignIn(planted)).toEqual([expect.objectContaining({ part: 'computers', table: 'audit_event' })]);
  });

  it('is found in the import of its entity', () => {
    const planted = { file: 'libs/inventory/src/imports/typeorm/planted.ts', sql: [], imported: ['ApplicationRow'] };

    expect(foreignIn(planted)).toEqual([expect.objectContaining({ part: 'inventory/imports', table: 'application' })]);
  });

  it.each([
    'SELECT audit_event.id FROM visible_computer JOIN computer_count ON audit_event.id = 1',
    `COMMENT ON VIEW visible_computer IS 'read FROM audit_event'`,
    'SELECT audit_event FROM visible_computer -- not FROM audit_event',
  ])('is not found in %s', (sql) =>
    expect(foreignIn({ file: 'libs/computers/src/typeorm/planted.ts', sql: [sql], imported: [] })).toEqual([]),
  );
});
