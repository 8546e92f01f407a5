import type { DataSource } from 'typeorm';
import type { FeedStart, WorkspaceId } from '#libs/kernel';
import { type BoundStatement, Database, RowBudget } from '#libs/platform/database';
import type { EventFilter } from '../../libs/audit/src/domain/event-filter';
import { writePosition } from '../../libs/audit/src/domain/event-position';
import { treeHashes } from '../../libs/audit/src/system/tree-hashes';
import { PublishedEventsTypeorm } from '../../libs/audit/src/typeorm/published-events.typeorm';
import { AuditSetting } from '../support/audit-setting';
import { openDataSource } from '../support/database-connection';
import { buffersOf, explain } from '../support/page-plan';

const EVENTS = 120_000;
const EVENTS_OF_CHECKPOINT = 100;
const PAGE = 100;
/** Each event of a page costs its row, its place in an index and its checkpoint. */
const MOST_BUFFERS = 700;
/** The end of the list, and the oldest event that waits for it. */
const MOST_BUFFERS_OF_NONE = 40;
/** A page with several filters looks at 1,000 events. */
const MOST_BUFFERS_OF_SEVERAL = 7_000;

const ASSET = '018f9c2e-7d2a-7c41-9a51-000000000001';
/** The first of each pair has most events, the second every thousandth. */
const FILTERS: readonly EventFilter[] = [
  {},
  { action: 'asset.updated' },
  { action: 'import.completed' },
  { clientId: 'ci_common' },
  { clientId: 'ci_rare' },
  { assetId: ASSET },
  { assetId: '018f9c2e-7d2a-7c41-9a51-000000000002' },
  { requestId: 'req-common' },
  { requestId: 'req-7000' },
  { clientId: 'ci_none' },
];
const SEVERAL: readonly EventFilter[] = [
  { action: 'asset.updated', clientId: 'ci_common', assetId: ASSET, requestId: 'req-common' },
  { clientId: 'ci_none', assetId: ASSET },
  { action: 'import.completed', requestId: 'req-common' },
];

/** Counts the reads of a page, which do not depend on the machine. */
describe('A page of a large audit', () => {
  let setting: AuditSetting;
  let workspace: WorkspaceId;
  let api: DataSource;
  let database: Database;
  let published: PublishedEventsTypeorm;

  beforeAll(async () => {
    setting = await AuditSetting.open();
    workspace = await setting.aWorkspace();
    const { admin, databaseUrl: url } = setting.database;
    await admin.query(
      `INSERT INTO audit_event (workspace_id, id, occurred_at, action, actor_type, target_type, target_id, asset_id,
              client_id, request_id, changes, mac, sequence)
       SELECT $1, gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 s',
              CASE WHEN n % 1000 = 0 THEN 'import.completed' END, CASE WHEN n % 1000 = 0 THEN 'IMPORT' END,
              CASE WHEN n % 1000 = 0 THEN 'IMPORT' END, CASE WHEN n % 1000 = 0 THEN 'hr' END,
              CASE WHEN n % 1000 = 1 THEN '018f9c2e-7d2a-7c41-9a51-000000000002'::uuid ELSE $2::uuid END,
              CASE WHEN n % 1000 = 2 THEN 'ci_rare' ELSE 'ci_common' END,
              CASE WHEN n % 1000 = 3 THEN 'req-' || n / 1000 * 1000 ELSE 'req-common' END,
              '{}', sha256(n::text::bytea), n
         FROM generate_series(1, ${EVENTS}) AS n`,
      [workspace, ASSET],
    );
    await admin.query(
      `INSERT INTO audit_checkpoint (workspace_id, size, roots, last_event, recorded_at, is_floor, mac)
       SELECT $1, sequence, ARRAY[mac], id, occurred_at, false, mac
         FROM audit_event WHERE workspace_id = $1 AND sequence % ${EVENTS_OF_CHECKPOINT} = 0`,
      [workspace],
    );
    await admin.query('VACUUM ANALYZE');
    api = await openDataSource(url, 2);
    database = new Database(api);
    published = new PublishedEventsTypeorm(database, treeHashes);
  });
  afterAll(async () => {
    await api.destroy();
    await setting.close();
  });

  /** Reads a page, and explains its statement. */
  const read = async (filter: EventFilter, start: FeedStart) => {
    const sent = jest.spyOn(database, 'read');
    const { changes } = await published.read(workspace, filter, start, PAGE);
    const [statement, ...others] = sent.mock.calls.flatMap(([, statements]) => statements);
    sent.mockRestore();
    expect(others).toEqual([]);
    const plan = await explain(api, workspace, statement as BoundStatement);
    // Events come as they are found, so Postgres stops where the reader does.
    expect(plan['Node Type']).toBe('Merge Append');
    return { found: changes.length, buffers: buffersOf(plan) };
  };
  const behind = async (sequence: number): Promise<FeedStart> => {
    const { rows } = await setting.database.admin.query<{ id: string }>(
      'SELECT id FROM audit_event WHERE workspace_id = $1 AND sequence = $2',
      [workspace, sequence],
    );
    return { kind: 'position', position: writePosition({ sequence, eventId: rows[0]?.id ?? '' }) };
  };

  it.each([
    ...FILTERS.map((filter) => [JSON.stringify(filter), filter, MOST_BUFFERS] as const),
    ...SEVERAL.map((filter) => [JSON.stringify(filter), filter, MOST_BUFFERS_OF_SEVERAL] as const),
  ])('reads few buffers, first, deep or last, with the filter %s', async (_, filter, most) => {
    const until = new Date('2026-01-02T03:00:00Z');
    for (const start of [{ kind: 'beginning' } as const, await behind(100_000), await behind(EVENTS - 20)]) {
      for (const one of [filter, { ...filter, until }])
        expect((await read(one, start)).buffers).toBeLessThanOrEqual(most);
    }
  });

  it('finds a time and the end of the list without a search', async () => {
    const deep = await read({}, { kind: 'since', since: new Date('2026-01-02T03:00:00Z') });
    expect(deep.found).toBe(PAGE);
    expect(deep.buffers).toBeLessThanOrEqual(MOST_BUFFERS);
    expect((await read({}, { kind: 'now' })).buffers).toBeLessThanOrEqual(MOST_BUFFERS_OF_NONE);
  });

  it('reads few large events beyond those it shows', async () => {
    await setting.database.admin.query(
      `INSERT INTO audit_event (workspace_id, id, occurred_at, asset_id, client_id, request_id, changes, mac, sequence)
       SELECT $1, gen_random_uuid(), timestamptz '2026-03-01', $2, 'ci', 'req',
              jsonb_build_object('description', jsonb_build_object('new', repeat('x', 200000))), sha256(''), $3::int + n
         FROM generate_series(1, 128) AS n`,
      [workspace, ASSET, EVENTS],
    );
    await setting.database.admin.query(
      `INSERT INTO audit_checkpoint (workspace_id, size, roots, last_event, recorded_at, is_floor, mac)
       SELECT $1, sequence, ARRAY[mac], id, occurred_at, false, mac FROM audit_event
        WHERE workspace_id = $1 AND sequence = $2`,
      [workspace, EVENTS + 128],
    );
    for (const small of [0, 20]) {
      const start = await behind(EVENTS - small);
      const came = jest.spyOn(RowBudget.prototype, 'takes');

      const { changes } = await published.read(workspace, {}, start, PAGE);

      expect(changes).toHaveLength(small + 10);
      expect(came.mock.calls.length).toBeLessThanOrEqual(3 * changes.length);
      came.mockRestore();
    }
  });
});
