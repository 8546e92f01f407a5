import { randomBytes } from 'node:crypto';
import type { WorkspaceId } from '#libs/kernel';
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
  ['anchor_sequence', 'anchor_sequence = 1', /MAC does not match/],
  ['anchor_link', `anchor_link = ${OTHER_CODE}`, /MAC does not match/],
  ['anchor_link', 'anchor_sequence = NULL, anchor_link = NULL', /MAC does not match/],
  ['mac', `mac = ${OTHER_CODE}`, /MAC does not match/],
  ['sequence', 'sequence = 1000', /the event is missing/],
  ['sequence', 'sequence = NULL, link = NULL', /the event is missing/],
  ['link', `link = ${OTHER_CODE}`, /not the one that was sealed/],
  ['action', `action = 'asset.updated'`, /MAC does not match/],
  ['actor_type', `actor_type = 'OPERATOR'`, /MAC does not match/],
  ['target_type', `target_type = 'ASSET'`, /MAC does not match/],
  ['target_id', 'target_id = asset_id::text', /MAC does not match/],
  ['actor_name', `actor_name = 'ada'`, /MAC does not match/],
  ['actor_name', 'actor_name = NULL', /MAC does not match/],
];
const SEAL_EDITS = [
  ['workspace_id', `workspace_id = ${OTHER_ID}`],
  ['first_sequence', 'first_sequence = 1'],
  ['last_sequence', 'last_sequence = 5'],
  ['head', `head = ${OTHER_CODE}`],
  ['sealed_at', `sealed_at = sealed_at - interval '1 ms'`],
  ['mac', `mac = ${OTHER_CODE}`],
  ['recorded_at', `recorded_at = recorded_at + interval '1 ms'`],
  ['recorded_at', `recorded_at = recorded_at - interval '1 ms'`],
] as const;
const HEAD_EDITS = [
  ['workspace_id', `workspace_id = ${OTHER_ID}`],
  ['sequence', 'sequence = sequence - 1'],
  ['head', `head = ${OTHER_CODE}`],
  ['mac', `mac = ${OTHER_CODE}`],
] as const;

const edit = (what: string, sequence: number): string =>
  `UPDATE audit_event SET ${what} WHERE ${HERE} AND sequence = ${sequence}`;
const remove = (...sequences: number[]): string =>
  `DELETE FROM audit_event WHERE ${HERE} AND sequence IN (${sequences.join()})`;
const removeSeal = (last: number): string => `DELETE FROM audit_seal WHERE ${HERE} AND last_sequence = ${last}`;
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
const COPIED =
  'occurred_at, asset_id, application_id, client_id, request_id, key_hash, changes, anchor_sequence, anchor_link, mac';
const copy = (of: number, place: string, link: string): string =>
  `INSERT INTO audit_event (workspace_id, id, ${COPIED}, sequence, link)
   SELECT workspace_id, ${OTHER_ID}, ${COPIED}, ${place}, ${link} FROM audit_event WHERE ${HERE} AND sequence = ${of}`;
const REWIND_HEAD = `UPDATE audit_head SET sequence = 4, head = (
    SELECT link FROM audit_event WHERE ${HERE} AND sequence = 4) WHERE ${HERE}`;

describe('Audit verification', () => {
  let setting: AuditSetting;
  beforeAll(async () => (setting = await AuditSetting.open()));
  afterAll(() => setting.close());

  /**
   * Applies statements to a chain of six sealed events, in batches of two, and two unsealed events. Returns the result
   * of verification.
   */
  const foundAfter = async (...statements: string[]) => {
    const workspace = await setting.aChain();
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
    const workspace = await setting.aChain();
    expect(await setting.audit.verify([workspace])).toEqual({ ok: true, sealed: 6, unsealed: 2, firstBad: null });
    expect(await setting.audit.verify([await setting.aWorkspace()])).toMatchObject({ ok: true, sealed: 0 });
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
    for (const [table, edits] of Object.entries({
      audit_event: EVENT_EDITS,
      audit_seal: SEAL_EDITS,
      audit_head: HEAD_EDITS,
    })) {
      expect([...new Set(edits.map(([column]) => column))]).toEqual(await columnsOf(table));
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
    ['a batch with its seal', 3, [remove(3, 4), removeSeal(4)]],
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
    ['the last batch with its seal', 5, [remove(5, 6), removeSeal(6)]],
    ['the last batch with its seal, the head set back', 5, [remove(5, 6), removeSeal(6), REWIND_HEAD]],
    [
      'the last batch with its seal and the head',
      5,
      [remove(5, 6), removeSeal(6), `DELETE FROM audit_head WHERE ${HERE}`],
    ],
    ['all of them', 1, [`DELETE FROM audit_event WHERE ${HERE} AND sequence IS NOT NULL`]],
    [
      'all of them and the seals',
      1,
      [`DELETE FROM audit_event WHERE ${HERE} AND sequence IS NOT NULL`, `DELETE FROM audit_seal WHERE ${HERE}`],
    ],
  ])('finds the deletion of %s: sequence %d', async (_what, sequence, statements) => {
    expect(await foundAfter(...statements)).toEqual(fault(sequence, /missing|head was altered|not match|not the one/));
  });

  it.each([
    ['a copy that waits for its seal', null, [copy(3, 'NULL', 'NULL')]],
    ['a copy behind the last', 7, [copy(3, '7', 'link')]],
    ['a copy far behind the last', 7, [copy(3, '700', 'link')]],
    [
      'a copy in the middle, its successors moved down',
      4,
      [
        moveAside('sequence > 3'),
        `UPDATE audit_event SET sequence = sequence - 999 WHERE ${HERE} AND sequence > 1000`,
        copy(3, '4', 'link'),
      ],
    ],
    [
      'an event made up',
      null,
      [
        `INSERT INTO audit_event (workspace_id, id, ${COPIED})
         VALUES ($1, ${OTHER_ID}, now(), ${OTHER_ID}, ${OTHER_ID}, 'ci_forged', 'r', 'k', '{}', NULL, NULL, ${OTHER_CODE})`,
      ],
    ],
  ])('finds the insertion of %s: sequence %s', async (_what, sequence, statements) => {
    expect(await foundAfter(...statements)).toEqual(fault(sequence, /does not match|missing|no seal/));
  });

  it('finds an event outside the chain because its place does not exist', async () => {
    const unchecked = 'ALTER TABLE audit_event DROP CONSTRAINT IF EXISTS audit_event_sequence_check';
    expect(await foundAfter(unchecked, copy(3, '-7', 'link'))).toEqual(fault(7, /outside the chain/));
  });

  it('finds an incomplete anchor, which no event is recorded with', async () => {
    const unchecked = 'ALTER TABLE audit_event DROP CONSTRAINT IF EXISTS audit_event_check1';
    for (const half of ['anchor_sequence = 1', `anchor_link = ${OTHER_CODE}`]) {
      expect(await foundAfter(unchecked, edit(half, 1))).toEqual(fault(1, /MAC does not match/));
    }
  });

  it('finds an event copied from another workspace', async () => {
    const [from, to] = [await setting.aChain(), await setting.aWorkspace()];
    await setting.database.admin.query(
      `INSERT INTO audit_event (workspace_id, id, ${COPIED}) SELECT $2, id, ${COPIED} FROM audit_event WHERE ${HERE}`,
      [from, to],
    );
    expect(await setting.verify(to)).toEqual(fault(null, /MAC does not match/));
  });

  it.each([
    ['sequences within a batch', 3, swapPlaces(3, 4)],
    ['sequences between batches', 2, swapPlaces(2, 5)],
    ['sequences and links', 2, [...swapPlaces(2, 5), swap(['link'], 2, 5)]],
    ['contents', 2, [swap(['changes'], 2, 5)]],
    ['contents and codes', 2, [swap(['asset_id', 'changes', 'mac'], 2, 5)]],
    ['links', 3, [swap(['link'], 3, 4)]],
  ])('finds swapped %s: sequence %d', async (_what, sequence, statements) => {
    expect(await foundAfter(...statements)).toEqual(fault(sequence, /not match|not the one/));
  });

  it.each(SEAL_EDITS)('finds a change of a seal’s %s', async (_column, change) => {
    const found = await foundAfter(`UPDATE audit_seal SET ${change} WHERE ${HERE} AND last_sequence = 4`);
    expect(found).toEqual(fault(3, /seal/));
  });

  it('finds a seal whose events are hidden from clients', async () => {
    const found = await foundAfter(`UPDATE audit_seal SET recorded_at = NULL WHERE ${HERE} AND last_sequence = 4`);
    expect(found).toEqual(fault(5, /time of recording/));
  });

  it.each([
    ['first', 2, 1],
    ['middle', 4, 3],
    ['last', 6, 5],
  ])('finds the deletion of the %s seal', async (_which, last, sequence) => {
    expect(await foundAfter(removeSeal(last))).toEqual(fault(sequence, /seal/));
  });

  it('finds a forged event with any id', async () => {
    for (const id of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      const forged = `INSERT INTO audit_event (workspace_id, id, ${COPIED})
        SELECT workspace_id, '${id}', ${COPIED} FROM audit_event WHERE ${HERE} AND sequence = 1`;
      expect(await foundAfter(forged)).toEqual(fault(null, /MAC does not match/));
    }
  });

  it('finds a seal that was invented or copied from another workspace', async () => {
    const forged = (from: string) =>
      `INSERT INTO audit_seal SELECT $1, 7, 8, head, sealed_at, mac FROM audit_seal ${from}`;
    expect(await foundAfter(forged(`WHERE ${HERE} AND last_sequence = 6`))).toEqual(fault(7, /missing/));
    const [from, to] = [await setting.aChain(), await setting.aWorkspace()];
    await setting.database.admin.query(
      `INSERT INTO audit_seal SELECT $2, first_sequence, last_sequence, head, sealed_at, mac FROM audit_seal WHERE ${HERE}`,
      [from, to],
    );
    expect(await setting.verify(to)).toEqual(fault(1, /missing/));
  });

  it.each(HEAD_EDITS)('finds a change of the head’s %s', async (_column, change) => {
    expect(await foundAfter(`UPDATE audit_head SET ${change} WHERE ${HERE}`)).toEqual(fault(7, /head/));
  });

  it('finds the deletion of the head', async () => {
    expect(await foundAfter(`DELETE FROM audit_head WHERE ${HERE}`)).toEqual(fault(7, /head is missing/));
  });

  it('finds a chain that was reset to an earlier state except for its head', async () => {
    const workspace = await setting.aChain();
    const { rows } = await setting.database.admin.query(`SELECT * FROM audit_head WHERE ${HERE}`, [workspace]);
    await setting.seal(workspace);
    const { sequence, head, mac } = rows[0] as Record<string, unknown>;
    await setting.database.admin.query(`UPDATE audit_head SET sequence = $2, head = $3, mac = $4 WHERE ${HERE}`, [
      ...[workspace, sequence, head, mac],
    ]);
    expect(await setting.verify(workspace)).toEqual(fault(7, /beyond the head/));
  });

  describe('of a chain that was removed to be sealed again', () => {
    const unseal = (from: number): string =>
      `UPDATE audit_event SET sequence = NULL, link = NULL WHERE ${HERE} AND sequence >= ${from}`;
    const undo = [unseal(1), ...['audit_seal', 'audit_head'].map((table) => `DELETE FROM ${table} WHERE ${HERE}`)];
    const sealAnew = async (workspace: WorkspaceId): Promise<void> => {
      // The fault must be found even after a sealer that checks nothing.
      await setting.seal(workspace).catch(() => undefined);
      await setting.sealBlindly(workspace);
    };

    it('finds a missing event among unsealed ones, before and after they are sealed again', async () => {
      const workspace = await setting.aChain();
      await setting.tamper(workspace, remove(3), ...undo);
      expect(await setting.verify(workspace)).toEqual(fault(null, /no longer stands in place/));
      await sealAnew(workspace);
      expect(await setting.verify(workspace)).toEqual(fault(4, /no longer stands in place/));
    });

    it('finds a missing last event after an older head was restored', async () => {
      const workspace = await setting.aWorkspace();
      await setting.record(workspace, 2);
      await setting.seal(workspace);
      const { rows } = await setting.database.admin.query(`SELECT * FROM audit_head WHERE ${HERE}`, [workspace]);
      for (const _batch of [2, 3]) {
        await setting.record(workspace, 2);
        await setting.seal(workspace);
      }
      const { sequence, head, mac } = rows[0] as Record<string, unknown>;
      await setting.tamper(
        workspace,
        remove(3),
        unseal(4),
        `DELETE FROM audit_seal WHERE ${HERE} AND last_sequence > 2`,
      );
      await setting.database.admin.query(`UPDATE audit_head SET sequence = $2, head = $3, mac = $4 WHERE ${HERE}`, [
        ...[workspace, sequence, head, mac],
      ]);
      expect(await setting.verify(workspace)).toEqual(fault(null, /no longer stands in place/));
      await sealAnew(workspace);
      expect(await setting.verify(workspace)).toEqual(fault(4, /no longer stands in place/));
    });

    it('finds swapped events although every link has a valid key', async () => {
      const workspace = await setting.aChain();
      await setting.tamper(workspace, ...undo);
      await setting.sealBlindly(workspace, (events) => [...events].reverse());
      expect(await setting.verify(workspace)).toEqual(fault(1, /no longer stands in place/));
    });

    it('ties every event to the end of the chain at its time, however late it is sealed', async () => {
      const workspace = await setting.aChain();
      const replica = await setting.anotherInstance();
      await setting.record(workspace, 1, { database: replica, meanwhile: () => setting.seal(workspace) });
      await setting.record(workspace);
      await setting.seal(workspace);
      const { rows } = await setting.database.admin.query(
        `SELECT anchor_sequence AS anchor FROM audit_event WHERE ${HERE} ORDER BY sequence`,
        [workspace],
      );
      const anchors = rows.map(({ anchor }: { anchor?: unknown }) => anchor);
      expect(anchors).toEqual([null, null, '2', '2', '4', '4', '6', '6', '6', '8']);
      expect(await setting.verify(workspace)).toBe('ok');
    });
  });

  it('accepts nothing that was made under another key', async () => {
    const workspace = await setting.aChain();
    expect(await setting.verify(workspace, setting.auditUnder(randomBytes(32)))).toEqual(fault(1, /./));
    const fresh = await setting.aWorkspace();
    await setting.record(fresh);
    expect(await setting.verify(fresh, setting.auditUnder(randomBytes(32)))).toEqual(fault(null, /not match/));
    expect(await setting.verify(workspace)).toBe('ok');
  });

  it('names the first workspace with a fault, and counts the events of all', async () => {
    const chains: WorkspaceId[] = [];
    for (let count = 0; count < 3; count += 1) chains.push(await setting.aChain());
    for (const workspace of chains.slice(1)) await setting.tamper(workspace, remove(2));
    expect(await setting.audit.verify(chains)).toEqual({
      ...{ ok: false, sealed: 16, unsealed: 6 },
      firstBad: { ...fault(2, /missing/), workspaceId: chains[1] },
    });
  });
});
