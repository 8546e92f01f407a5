import { randomBytes } from 'node:crypto';
import type { WorkspaceId } from '#libs/kernel';
import { AuditCheck } from '../../libs/audit/src/domain/audit-check';
import { AuditSetting } from '../support/audit-setting';

const HERE = 'workspace_id = $1';
const OTHER_CODE = `decode('${'5a'.repeat(32)}', 'hex')`;
const OTHER_ID = 'gen_random_uuid()';

/** The columns of each table with an edit, and the fault that verification must report. */
const EVENT_EDITS: readonly (readonly [column: string, edit: string, found: RegExp])[] = [
  ['workspace_id', `workspace_id = ${OTHER_ID}`, /the event is missing/],
  ['id', `id = ${OTHER_ID}`, /MAC does not match/],
  ['occurred_at', `occurred_at = occurred_at + interval '1 ms'`, /MAC does not match/],
  ['asset_id', `asset_id = ${OTHER_ID}`, /MAC does not match/],
  ['application_id', `application_id = ${OTHER_ID}`, /MAC does not match/],
  ['client_id', `client_id = client_id || ' '`, /MAC does not match/],
  ['request_id', `request_id = upper(request_id)`, /MAC does not match/],
  ['key_hash', `key_hash = reverse(key_hash)`, /MAC does not match/],
  ['changes', `changes = jsonb_set(changes, '{description,old}', '""')`, /MAC does not match/],
  ['changes', `changes = changes || '{"owner": {"old": null, "new": null}}'`, /MAC does not match/],
  ['anchor_sequence', `anchor_sequence = 1, anchor_link = ${OTHER_CODE}`, /MAC does not match/],
  ['mac', `mac = ${OTHER_CODE}`, /MAC does not match/],
  ['sequence', 'sequence = 1000', /the event is missing/],
  ['sequence', 'sequence = NULL', /the event is missing/],
  ['action', `action = 'asset.updated'`, /MAC does not match/],
  ['actor_type', `actor_type = 'OPERATOR'`, /MAC does not match/],
  ['target_type', `target_type = 'ASSET'`, /MAC does not match/],
  ['target_id', 'target_id = asset_id::text', /MAC does not match/],
  ['actor_name', `actor_name = 'ada'`, /MAC does not match/],
  ['actor_name', 'actor_name = NULL', /MAC does not match/],
];
/** Columns that nothing reads, or that stand under the code of another one. */
const UNREAD = ['anchor_link', 'link'];
const CHECKPOINT_EDITS = [
  ['workspace_id', `workspace_id = ${OTHER_ID}`],
  ['size', 'size = 5'],
  ['size', 'size = 3'],
  ['roots', `roots = ARRAY[${OTHER_CODE}]`],
  ['roots', `roots = '{}'`],
  ['last_event', `last_event = ${OTHER_ID}`],
  ['recorded_at', `recorded_at = recorded_at + interval '1 ms'`],
  ['recorded_at', `recorded_at = recorded_at - interval '1 ms'`],
  ['is_floor', 'is_floor = true'],
  ['mac', `mac = ${OTHER_CODE}`],
] as const;

const edit = (what: string, sequence: number): string =>
  `UPDATE audit_event SET ${what} WHERE ${HERE} AND sequence = ${sequence}`;
const remove = (...sequences: number[]): string =>
  `DELETE FROM audit_event WHERE ${HERE} AND sequence IN (${sequences.join()})`;
const removeCheckpoint = (size: number): string => `DELETE FROM audit_checkpoint WHERE ${HERE} AND size = ${size}`;
/** The second step of each swap, because the key must be unique after each row. */
const moveAside = (condition: string): string =>
  `UPDATE audit_event SET sequence = sequence + 1000 WHERE ${HERE} AND ${condition}`;
const swapPlaces = (one: number, other: number): string[] => [
  moveAside(`sequence IN (${one}, ${other})`),
  `UPDATE audit_event SET sequence = ${one + other + 1000} - sequence WHERE ${HERE} AND sequence > 1000`,
];
const swap = (columns: readonly string[], one: number, other: number): string =>
  `UPDATE audit_event AS event SET ${columns.map((column) => `${column} = twin.${column}`).join(', ')}
     FROM audit_event AS twin
    WHERE event.workspace_id = $1 AND twin.workspace_id = $1 AND event.sequence IN (${one}, ${other})
      AND twin.sequence = ${one + other} - event.sequence`;
const COPIED = 'occurred_at, actor_name, asset_id, application_id, client_id, request_id, key_hash, changes, mac';
const copy = (of: number, place: string): string =>
  `INSERT INTO audit_event (workspace_id, id, ${COPIED}, sequence)
   SELECT workspace_id, ${OTHER_ID}, ${COPIED}, ${place} FROM audit_event WHERE ${HERE} AND sequence = ${of}`;

describe('Audit verification', () => {
  let setting: AuditSetting;
  beforeAll(async () => (setting = await AuditSetting.open()));
  afterAll(() => setting.close());

  /**
   * Applies statements to an audit of six sealed events, in batches of two, and two unsealed events. Returns the result
   * of verification.
   */
  const foundAfter = async (...statements: string[]) => {
    const workspace = await setting.anAudit();
    await setting.tamper(workspace, ...statements);
    return setting.verify(workspace);
  };
  const fault = (sequence: number | null, reason: RegExp) => ({
    workspaceId: expect.any(String) as string,
    sequence,
    reason: expect.stringMatching(reason) as string,
  });
  const columnsOf = async (table: string): Promise<string[]> => {
    const { rows } = await setting.database.admin.query<{ column_name: string }>(
      'SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position',
      [table],
    );
    return rows.map(({ column_name }) => column_name);
  };

  it('accepts untouched events and counts them', async () => {
    const workspace = await setting.anAudit();
    expect(await setting.audit.verify([workspace])).toEqual({ ok: true, sealed: 6, unsealed: 2, firstBad: null });
    expect(await setting.audit.verify([await setting.aWorkspace()])).toMatchObject({ ok: true, sealed: 0 });
  });

  it('holds no snapshot while it reads, which would keep vacuum from every table', async () => {
    const workspace = await setting.anAudit();
    const firstFault = Reflect.get(AuditCheck.prototype, 'firstFault') as AuditCheck['firstFault'];
    const held: unknown[] = [];
    const reading = jest.spyOn(AuditCheck.prototype, 'firstFault').mockImplementation(async function (
      this: AuditCheck,
    ) {
      const { rows } = await setting.database.admin.query<{ query: string }>(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
            AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`,
      );
      held.push(...rows);
      return firstFault.call(this);
    });

    expect(await setting.verify(workspace)).toBe('ok');

    expect([reading.mock.calls.length, held]).toEqual([1, []]);
    reading.mockRestore();
  });

  it('reads every JSON value as it was recorded', async () => {
    const workspace = await setting.aWorkspace();
    const values = [
      0.1,
      -0,
      1e21,
      1e-7,
      2 ** 53,
      true,
      '',
      '\u2028"\\/\u007f',
      '￿𐀀',
      [[], {}],
      { b: 1, a: { 10: 2, 9: 3 } },
    ];
    const fields = values.map((value, index) => [`field${index}`, { old: undefined, new: value }] as const);
    await setting.record(workspace, 1, { fields: Object.fromEntries(fields) });
    expect(await setting.verify(workspace)).toBe('ok');
    await setting.seal(workspace);
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it('covers every column of every table', async () => {
    for (const [table, edits] of [
      ['audit_event', EVENT_EDITS],
      ['audit_checkpoint', CHECKPOINT_EDITS],
    ] as const) {
      const columns = (await columnsOf(table)).filter((column) => !UNREAD.includes(column));
      expect([...new Set(edits.map(([column]) => column))].toSorted()).toEqual(columns.toSorted());
    }
  });

  it.each(EVENT_EDITS)('finds a change of %s: %s', async (_column, change, reason) => {
    expect(await foundAfter(edit(change, 3))).toEqual(fault(3, reason));
  });

  it('finds a change of an unsealed event after all sealed ones', async () => {
    const change = `UPDATE audit_event SET client_id = 'ci_other' WHERE ${HERE} AND sequence IS NULL`;
    expect(await foundAfter(change)).toEqual(fault(null, /MAC does not match/));
    expect(await foundAfter(change, remove(6))).toEqual(fault(6, /missing/));
  });

  it.each([
    ['the first', 1, [remove(1)]],
    ['one from the middle', 3, [remove(3)]],
    ['a batch with its checkpoint', 3, [remove(3, 4), removeCheckpoint(4)]],
    [
      'one whose successors moved up',
      3,
      [
        remove(3),
        moveAside('sequence > 3'),
        `UPDATE audit_event SET sequence = sequence - 1001 WHERE ${HERE} AND sequence > 1000`,
      ],
    ],
    ['the last', 6, [remove(6)]],
    ['all of them', 1, [`DELETE FROM audit_event WHERE ${HERE} AND sequence IS NOT NULL`]],
    ['all up to a checkpoint, as if they were archived', 1, [remove(1, 2), removeCheckpoint(2)]],
  ])('finds the deletion of %s: sequence %d', async (_what, sequence, statements) => {
    expect(await foundAfter(...statements)).toEqual(fault(sequence, /missing|not those of their checkpoint/));
  });

  it.each([
    ['a copy that waits for its seal', null, [copy(3, 'NULL')]],
    ['a copy behind the last', 7, [copy(3, '7')]],
    ['a copy far behind the last', 7, [copy(3, '700')]],
    [
      'a copy in the middle, its successors moved down',
      4,
      [
        moveAside('sequence > 3'),
        `UPDATE audit_event SET sequence = sequence - 999 WHERE ${HERE} AND sequence > 1000`,
        copy(3, '4'),
      ],
    ],
    [
      'an event made up',
      null,
      [
        `INSERT INTO audit_event (workspace_id, id, ${COPIED})
         VALUES ($1, ${OTHER_ID}, now(), '', ${OTHER_ID}, ${OTHER_ID}, 'ci_forged', 'r', 'k', '{}', ${OTHER_CODE})`,
      ],
    ],
  ])('finds the insertion of %s: sequence %s', async (_what, sequence, statements) => {
    expect(await foundAfter(...statements)).toEqual(fault(sequence, /does not match|missing/));
  });

  it('finds an event in a place that no event can have', async () => {
    const unchecked = 'ALTER TABLE audit_event DROP CONSTRAINT IF EXISTS audit_event_sequence_check';
    for (const place of ['-7', '0']) {
      expect(await foundAfter(unchecked, copy(3, place))).toEqual(fault(Number(place), /in no place/));
    }
  });

  it('finds half an anchor of an earlier release, which no event was recorded with', async () => {
    const unchecked = 'ALTER TABLE audit_event DROP CONSTRAINT IF EXISTS audit_event_check1';
    for (const half of ['anchor_sequence = 1', `anchor_link = ${OTHER_CODE}`]) {
      expect(await foundAfter(unchecked, edit(half, 1))).toEqual(fault(1, /MAC does not match/));
    }
  });

  it('finds an event copied from another workspace', async () => {
    const [from, to] = [await setting.anAudit(), await setting.aWorkspace()];
    await setting.database.admin.query(
      `INSERT INTO audit_event (workspace_id, id, ${COPIED}) SELECT $2, id, ${COPIED} FROM audit_event WHERE ${HERE}`,
      [from, to],
    );
    expect(await setting.verify(to)).toEqual(fault(null, /MAC does not match/));
  });

  it.each([
    ['sequences within a batch', 3, swapPlaces(3, 4)],
    ['sequences between batches', 1, swapPlaces(2, 5)],
    ['contents', 2, [swap(['changes'], 2, 5)]],
    ['contents and codes', 2, [swap(['asset_id', 'changes', 'mac'], 2, 5)]],
  ])('finds swapped %s: from sequence %d on', async (_what, sequence, statements) => {
    expect(await foundAfter(...statements)).toEqual(fault(sequence, /not match|not those of their checkpoint/));
  });

  it.each(CHECKPOINT_EDITS)('finds a change of a checkpoint’s %s: %s', async (_column, change) => {
    const found = await foundAfter(`UPDATE audit_checkpoint SET ${change} WHERE ${HERE} AND size = 4`);
    expect(found).toEqual(fault(3, /checkpoint/));
  });

  it.each([
    ['first', 2, 1],
    ['middle', 4, 3],
  ])('finds the deletion of the %s checkpoint', async (_which, size, sequence) => {
    expect(await foundAfter(removeCheckpoint(size))).toEqual(fault(sequence, /checkpoint/));
  });

  it('finds events of another workspace in the place of its own', async () => {
    const [one, other] = [await setting.anAudit(), await setting.anAudit()];
    const aside = '00000000-0000-4000-8000-000000000000';
    for (const table of ['audit_event', 'audit_checkpoint']) {
      const move = `UPDATE ${table} SET workspace_id = $2 WHERE ${HERE}`;
      for (const [from, to] of [
        [one, aside],
        [other, one],
        [aside, other],
      ]) {
        await setting.database.admin.query(move, [from, to]);
      }
    }
    for (const workspace of [one, other]) expect(await setting.verify(workspace)).toEqual(fault(1, /altered/));
  });

  it('finds a forged event with any id', async () => {
    for (const id of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      const forged = `INSERT INTO audit_event (workspace_id, id, ${COPIED})
        SELECT workspace_id, '${id}', ${COPIED} FROM audit_event WHERE ${HERE} AND sequence = 1`;
      expect(await foundAfter(forged)).toEqual(fault(null, /MAC does not match/));
    }
  });

  it('finds a checkpoint that was invented or copied from another workspace', async () => {
    const forged = `INSERT INTO audit_checkpoint
      SELECT workspace_id, 8, roots, last_event, recorded_at, false, mac FROM audit_checkpoint WHERE ${HERE} AND size = 6`;
    expect(await foundAfter(forged)).toEqual(fault(7, /checkpoint/));
    const [from, to] = [await setting.anAudit(), await setting.aWorkspace()];
    await setting.database.admin.query(
      `INSERT INTO audit_checkpoint
       SELECT $2, size, roots, last_event, recorded_at, is_floor, mac FROM audit_checkpoint WHERE ${HERE}`,
      [from, to],
    );
    expect(await setting.verify(to)).toEqual(fault(1, /checkpoint/));
  });

  it('leaves to customers’ checkpoints what was cut off at the end together with its checkpoint', async () => {
    const cut = `DELETE FROM audit_checkpoint WHERE ${HERE} AND size > 4`;
    expect(await foundAfter(`DELETE FROM audit_event WHERE ${HERE} AND sequence > 4`, cut)).toBe('ok');
  });

  it('accepts nothing that was made under another key', async () => {
    const workspace = await setting.anAudit();
    expect(await setting.verify(workspace, setting.auditUnder(randomBytes(32)))).toEqual(fault(1, /./));
    const fresh = await setting.aWorkspace();
    await setting.record(fresh);
    expect(await setting.verify(fresh, setting.auditUnder(randomBytes(32)))).toEqual(fault(null, /not match/));
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it('names the first workspace with a fault, and counts the events of all', async () => {
    const audits: WorkspaceId[] = [];
    for (let count = 0; count < 3; count += 1) audits.push(await setting.anAudit());
    for (const workspace of audits.slice(1)) await setting.tamper(workspace, remove(2));
    expect(await setting.audit.verify(audits)).toEqual({
      ...{ ok: false, sealed: 16, unsealed: 6 },
      firstBad: { ...fault(2, /missing/), workspaceId: audits[1] },
    });
  });
});
