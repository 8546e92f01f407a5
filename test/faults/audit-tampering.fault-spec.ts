import { randomInt, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { AuditVerifier } from '../support/audit-verifier';
import type { ApiClient } from '../support/api-client';
import { type TestApp, startApp } from '../support/start-app';
import { until } from '../support/until';
import { MINUTE, sized, tell } from './sizes';

const TAMPERINGS = sized({ short: 56, long: 1_000 });
const KEPT = 40;
const LATER = 9;
const TABLES = ['audit_event', 'audit_checkpoint'];
const HERE = 'workspace_id = $1';
const HIGH = 1_000_000;

type Tampering = (place: number, other: number) => string[];

/** Edits of what the list shows of an event. */
const EDITS = [
  `changes = jsonb_set(changes, '{description,new}', '"${randomUUID()}"')`,
  `changes = changes || '{"classification": {"old": null, "new": "PUBLIC"}}'`,
  `changes = '{}'`,
  'asset_id = gen_random_uuid()',
  'id = gen_random_uuid()',
  `client_id = client_id || 'x'`,
  `request_id = upper(request_id) || '-'`,
  `occurred_at = occurred_at + interval '1 ms'`,
  `actor_name = 'ada'`,
  'actor_name = NULL',
  `action = 'tag_key.created', actor_type = 'OPERATOR', target_type = 'TAG_KEY', target_id = 'env'`,
];
const COPIED = `occurred_at, action, actor_type, actor_name, target_type, target_id, asset_id, application_id, client_id, request_id,
  key_hash, changes, mac`;
/** In two steps, because the sequence is unique after each row. */
const shift = (from: number, by: number): string[] => [
  `UPDATE audit_event SET sequence = sequence + ${HIGH} WHERE ${HERE} AND sequence >= ${from}`,
  `UPDATE audit_event SET sequence = sequence - ${HIGH} + ${by} WHERE ${HERE} AND sequence >= ${HIGH}`,
];
const remove = (place: number): string => `DELETE FROM audit_event WHERE ${HERE} AND sequence = ${place}`;

const KINDS: Readonly<Record<string, Tampering>> = {
  ...Object.fromEntries(
    EDITS.map((edit): [string, Tampering] => [
      `edit: ${edit}`,
      (place) => [`UPDATE audit_event SET ${edit} WHERE ${HERE} AND sequence = ${place}`],
    ]),
  ),
  'edit of the time of recording': (place) => [
    `UPDATE audit_checkpoint SET recorded_at = recorded_at - interval '1 ms' WHERE ${HERE} AND size = (
       SELECT min(size) FROM audit_checkpoint WHERE ${HERE} AND size >= ${place})`,
  ],
  deletion: (place) => [remove(place)],
  'deletion that leaves no gap': (place) => [remove(place), ...shift(place + 1, -1)],
  insertion: (place, other) => [
    ...shift(place, 1),
    `INSERT INTO audit_event (workspace_id, id, ${COPIED}, sequence)
     SELECT workspace_id, gen_random_uuid(), ${COPIED}, ${place} FROM audit_event
      WHERE ${HERE} AND sequence = ${other < place ? other : other + 1}`,
  ],
  reordering: (place, other) => [
    `UPDATE audit_event SET sequence = sequence + ${HIGH} WHERE ${HERE} AND sequence IN (${place}, ${other})`,
    `UPDATE audit_event SET sequence = ${place + other + HIGH} - sequence WHERE ${HERE} AND sequence > ${HIGH}`,
  ],
};

describe('A customer with a kept checkpoint and the public key', () => {
  let app: TestApp;
  let workspace: string;
  let client: ApiClient;
  let customer: AuditVerifier;
  let owner: Pool;

  beforeAll(async () => {
    app = await startApp();
    owner = app.database.admin;
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.aClient(workspace, ['all:read', 'all:write']);
    const { id } = await app.arrange.anAsset(workspace);
    const record = async (count: number): Promise<void> => {
      for (let made = 0; made < count; made += 1) {
        expect((await client.patch(`/v1/inventory/assets/${id}`, { description: randomUUID() })).status).toBe(200);
      }
    };
    await record(KEPT);
    await sealed(KEPT);
    customer = await AuditVerifier.keeping(client);
    await record(LATER);
    await sealed(KEPT + LATER);
    for (const table of TABLES) {
      await owner.query(`CREATE TABLE kept_${table} AS SELECT * FROM ${table} WHERE ${HERE}`, [workspace]);
    }
  }, 3 * MINUTE);
  afterAll(() => app.stop());

  const sealed = async (size: number): Promise<void> =>
    until(async () => {
      const text = `SELECT 1 FROM audit_checkpoint WHERE ${HERE} AND size = $2`;
      return (await owner.query(text, [workspace, size])).rows.length > 0;
    });
  /** In one transaction that no sealer interrupts. */
  const asOwner = async (statements: readonly string[]): Promise<void> => {
    await owner.query('BEGIN');
    await owner.query(`SELECT pg_advisory_xact_lock(hashtextextended('audit seal ' || $1, 0))`, [workspace]);
    for (const statement of statements) await owner.query(statement, statement.includes('$1') ? [workspace] : []);
    await owner.query('COMMIT');
  };
  const restore = (): Promise<void> =>
    asOwner(
      TABLES.flatMap((table) => [
        `DELETE FROM ${table} WHERE ${HERE}`,
        `INSERT INTO ${table} SELECT * FROM kept_${table}`,
      ]),
    );

  it(
    `finds each of ${TAMPERINGS} random tamperings by the owner of the database`,
    async () => {
      const names = Object.keys(KINDS);
      const missed: string[] = [];
      expect(await customer.fault()).toBeNull();
      for (let turn = 0; turn < TAMPERINGS; turn += 1) {
        const name = names[turn % names.length] as string;
        const place = randomInt(1, KEPT + 1);
        const other = ((place - 1 + randomInt(1, KEPT)) % KEPT) + 1;
        const statements = (KINDS[name] as Tampering)(place, other);

        await asOwner(statements);
        const fault = await customer.fault();

        if (fault === null) missed.push(`${name}: ${statements.join('; ')}`);
        await restore();
      }
      expect(missed).toEqual([]);
      expect(await customer.fault()).toBeNull();
      tell('tamperings of the audit', { made: TAMPERINGS, missed: missed.length });
    },
    10 * MINUTE,
  );

  it(
    'finds an event less in an audit that an instance sealed anew',
    async () => {
      await asOwner([
        remove(KEPT),
        `UPDATE audit_event SET sequence = NULL WHERE ${HERE}`,
        ...TABLES.slice(1).map((table) => `DELETE FROM ${table} WHERE ${HERE}`),
      ]);
      await sealed(KEPT + LATER - 1);

      expect(await customer.fault()).not.toBeNull();

      await restore();
      expect(await customer.fault()).toBeNull();
    },
    MINUTE,
  );
});
