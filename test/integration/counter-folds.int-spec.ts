import { Client } from 'pg';
import { ImportSetting } from '../support/import-setting';

const MANY = 10_000;
/** Postgres may keep a plan from the sixth call on. */
const CALLS = 20;

/** The first import of a workspace begins with empty counters and fills them. */
describe('A fold of counters', () => {
  let setting: ImportSetting;
  let writer: Client;
  beforeAll(async () => {
    setting = await ImportSetting.open();
    await setting.enterWorkspace();
    writer = new Client({ connectionString: setting.database.migrationDatabaseUrl });
    await writer.connect();
    await writer.query(`SELECT set_config('app.workspace_id', $1, false)`, [setting.here]);
  });
  afterAll(async () => {
    await writer.end();
    await setting.close();
  });

  /** Rows of the table that were read so far, with and without an index. */
  const rowsRead = async (table: string): Promise<number> => {
    await writer.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await setting.database.admin.query<{ n: string }>(
      `SELECT seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = $1) AS n
         FROM pg_stat_user_tables WHERE relname = $1`,
      [table],
    );
    return Number(rows[0]?.n);
  };

  it.each([
    ['owner', 'owner_id', 'uuid', 'gen_random_uuid()'],
    ['tag', 'tag_key_id, sub_key, facet', 'int', 'i, 1, 0'],
  ])('reads the rows of its keys alone, also where it began with few (%s)', async (what, columns, type, key) => {
    const add = (rows: number) =>
      setting.change(`
        INSERT INTO ${what}_count (workspace_id, ${columns}, n)
        SELECT '${setting.here}', ${key}, 1 FROM generate_series(1, ${rows}) AS i`);
    const fold = () => writer.query(`SELECT fold_${what}_counts('{}'::${type}[]) FROM generate_series(1, ${CALLS})`);
    await add(1);
    await fold();
    await add(MANY);
    const before = await rowsRead(`${what}_count`);

    await fold();

    expect((await rowsRead(`${what}_count`)) - before).toBeLessThan(MANY);
  });
});
