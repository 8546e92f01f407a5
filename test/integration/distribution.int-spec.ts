import { type TestDatabase, createTestDatabase } from '../support/test-database';

/** Small tables, read before the workspace is known: every node has a copy. */
const REFERENCE_TABLES = ['application', 'workspace'];
/** Belongs to no tenant. */
const UNDISTRIBUTED = ['migration'];

describe('Distribution over many machines', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const rowsOf = async <Row extends object>(sql: string): Promise<Row[]> => (await database.admin.query<Row>(sql)).rows;

  it('works by workspace for every table, because each key, unique index and reference contains it', async () => {
    const tables = await rowsOf<{ name: string; distributed: boolean }>(`
      SELECT relname AS name,
             EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'workspace_id' AND attnotnull)
               AS distributed
        FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`);
    const distributed = tables.filter(({ name }) => ![...REFERENCE_TABLES, ...UNDISTRIBUTED].includes(name));
    expect(distributed.filter((table) => !table.distributed)).toEqual([]);
    expect(distributed.length).toBeGreaterThanOrEqual(9);

    const names = distributed.map(({ name }) => `'${name}'`).join(', ');
    const unique = await rowsOf<{ index: string; columns: string }>(`
      SELECT indexrelid::regclass::text AS index,
             array_to_string(ARRAY(SELECT pg_get_indexdef(indexrelid, place, true)
                                     FROM generate_series(1, indnkeyatts) AS place), ', ') AS columns
        FROM pg_index WHERE indisunique AND indrelid::regclass::text IN (${names})`);
    expect(unique.length).toBeGreaterThanOrEqual(distributed.length);
    expect(unique.filter(({ columns }) => !columns.split(', ').includes('workspace_id'))).toEqual([]);

    const references = await rowsOf<{ from: string; to: string; pairs: string[] }>(`
      SELECT conrelid::regclass::text AS from, confrelid::regclass::text AS to,
             ARRAY(SELECT a.attname || '=' || b.attname FROM unnest(conkey, confkey) AS pair (own, other)
                     JOIN pg_attribute AS a ON a.attrelid = conrelid AND a.attnum = own
                     JOIN pg_attribute AS b ON b.attrelid = confrelid AND b.attnum = other) AS pairs
        FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text IN (${names})`);
    const crossing = references.filter(
      ({ to, pairs }) => !REFERENCE_TABLES.includes(to) && !pairs.includes('workspace_id=workspace_id'),
    );
    expect(references.length).toBeGreaterThanOrEqual(5);
    expect(crossing).toEqual([]);
  });
});
