import { randomUUID } from 'node:crypto';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const ASSETS = 20_000;
/** Postgres decides for all later calls after five. */
const CALLS = 8;

describe('Looking for empty change sets', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('costs the same however many assets the first set of a workspace holds', async () => {
    const { admin } = database;
    const workspace = randomUUID();
    await admin.query(`INSERT INTO workspace (id, slug, name) VALUES ($1, 'upgraded', 'Upgraded')`, [workspace]);
    await admin.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    await admin.query(
      `INSERT INTO change_set (workspace_id, sequence, id, changed_at, origin)
       SELECT $1, 1 + id, id, now(), 2 FROM generate_series(0, ${CALLS + 1}) AS id`,
      [workspace],
    );
    await admin.query(
      `INSERT INTO asset (workspace_id, source, external_id, sub_key, name, change_id)
       SELECT $1, 'demo', 'asset ' || n, 1, 'Bucket', 0 FROM generate_series(1, ${ASSETS}) AS n`,
      [workspace],
    );
    await admin.query('VACUUM ANALYZE asset');

    let buffers = Infinity;
    for (let sequence = 1; sequence <= CALLS; sequence += 1) {
      const { rows } = await admin.query<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM mark_empty_change_sets('${workspace}', ${sequence}, 1)`,
      );
      buffers = rows[0]?.['QUERY PLAN'][0].Plan['Shared Hit Blocks'] ?? Infinity;
    }
    const { rows: sets } = await admin.query<{ emptied: boolean; n: number }>(
      'SELECT emptied, count(*)::int AS n FROM change_set WHERE workspace_id = $1 GROUP BY emptied ORDER BY emptied',
      [workspace],
    );

    expect(sets).toEqual([
      { emptied: false, n: 2 },
      { emptied: true, n: CALLS },
    ]);
    expect(buffers).toBeLessThan(100);
  });
});
