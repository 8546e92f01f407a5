import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import type { WorkspaceId } from '#libs/kernel';
import { AuditSealer } from '../../libs/inventory/src/system/audit-sealer';
import { AuditSetting } from '../support/audit-setting';
import { startApp } from '../support/start-app';

describe('Sealing of the audit', () => {
  let setting: AuditSetting;
  let warnings: jest.SpyInstance;
  let errors: jest.SpyInstance;
  let notes: jest.SpyInstance;
  beforeAll(async () => (setting = await AuditSetting.open()));
  afterAll(() => setting.close());
  beforeEach(() => {
    warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    notes = jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
  });
  afterEach(() => jest.restoreAllMocks());

  const rowsOf = async (workspace: WorkspaceId, table: string, order: string): Promise<Record<string, unknown>[]> => {
    const { rows } = await setting.database.admin.query<Record<string, unknown>>(
      `SELECT * FROM ${table} WHERE workspace_id = $1 ORDER BY ${order}`,
      [workspace],
    );
    return rows;
  };

  it('seals what waits in every workspace, in the order of time, a thousand events at a time', async () => {
    const [large, small] = [await setting.aWorkspace(), await setting.aWorkspace()];
    for (let update = 0; update < 21; update += 1) await setting.record(large, 100);
    await setting.record(small, 3);
    expect(await setting.sealer().sealAll()).toBe(2_103);
    expect(await setting.sealer().sealAll()).toBe(0);
    const seals = await rowsOf(large, 'audit_seal', 'last_sequence');
    expect(seals.map((seal) => [seal['first_sequence'], seal['last_sequence']])).toEqual([
      ['1', '1000'],
      ['1001', '2000'],
      ['2001', '2100'],
    ]);
    const events = await rowsOf(large, 'audit_event', 'sequence');
    const ids = events.map(({ id }) => id as string);
    expect(ids).toEqual([...ids].sort());
    expect(await setting.audit.verify([large, small])).toEqual({
      ok: true,
      sealed: 2_103,
      unsealed: 0,
      firstBad: null,
    });
  });

  it('records and seals a bulk of 100 whose values are as long as they can be', async () => {
    const workspace = await setting.aWorkspace();
    const text = '𝄞é"\\'.repeat(25_000);
    await setting.record(workspace, 100, { fields: { description: { old: text, new: `${text}.` } } });
    await setting.sealer().sealAll();
    expect(await setting.audit.verify([workspace])).toMatchObject({ ok: true, sealed: 100, unsealed: 0 });
  });

  it('verifies at every moment while changes are recorded and the sealers of two replicas are at it', async () => {
    const [workspace, other] = [await setting.aWorkspace(), await setting.aChain()];
    const [writing, sealing, rival] = [
      await setting.anotherReplica(),
      await setting.anotherReplica(),
      await setting.anotherReplica(),
    ];
    let recorded = 0;
    let done = false;
    const writer = async (): Promise<void> => {
      for (; recorded < 400; recorded += 5) await setting.record(workspace, 5, { database: writing });
      done = true;
    };
    const sealer = async (database: typeof rival): Promise<void> => {
      for (const one = setting.sealer(database); !done;) await one.sealAll();
    };
    const verdicts: unknown[] = [];
    const verifier = async (): Promise<void> => {
      while (!done) verdicts.push((await setting.audit.verify([workspace, other])).firstBad);
    };
    await Promise.all([writer(), sealer(sealing), sealer(rival), verifier()]);
    await setting.sealer().sealAll();
    expect(verdicts.length).toBeGreaterThan(2);
    expect(verdicts.filter((firstBad) => firstBad !== null)).toEqual([]);
    expect(await setting.audit.verify([workspace])).toEqual({ ok: true, sealed: 400, unsealed: 0, firstBad: null });
    // Two at once in one workspace would run into each other's keys; they take turns instead.
    expect(warnings.mock.calls).toEqual([]);
  });

  it('vouches for no forged event: it and those after it are left to be found', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 4);
    await setting.tamper(
      workspace,
      `UPDATE audit_event SET client_id = 'ci_other' WHERE workspace_id = $1 AND id = (
         SELECT max(id::text)::uuid FROM audit_event WHERE workspace_id = $1)`,
    );
    const sealer = setting.sealer();
    expect([await sealer.sealAll(), await sealer.sealAll(), await sealer.sealAll()]).toEqual([3, 0, 0]);
    expect(errors).toHaveBeenCalledTimes(1);
    expect(await setting.verify(workspace)).toMatchObject({ sequence: null });
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL');
  });

  it('does not go on from a head that was tampered with', async () => {
    const workspace = await setting.aChain();
    await setting.tamper(
      workspace,
      'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence > 4',
      'DELETE FROM audit_seal WHERE workspace_id = $1 AND last_sequence > 4',
      `UPDATE audit_head SET sequence = 4, head = (
         SELECT link FROM audit_event WHERE workspace_id = $1 AND sequence = 4) WHERE workspace_id = $1`,
    );
    const sealer = setting.sealer();
    expect(await sealer.sealAll()).toBe(0);
    expect(await sealer.sealAll()).toBe(0);
    expect(errors).toHaveBeenCalledTimes(1);
    expect(await setting.verify(workspace)).toMatchObject({
      sequence: 5,
      reason: expect.stringMatching(/head/) as string,
    });
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL');
  });

  describe('by the worker of the API', () => {
    it('comes by itself, leaves the one connection to others meanwhile, and stops when asked', async () => {
      const workspace = await setting.aWorkspace();
      const sealer = setting.sealer(setting.api, 10);
      sealer.onApplicationBootstrap();
      for (let update = 0; update < 10; update += 1) await setting.record(workspace);
      const waiting = async () => (await setting.audit.verify([workspace])).unsealed;
      for (const deadline = Date.now() + 5_000; (await waiting()) > 0 && Date.now() < deadline;) await delay(10);
      expect(await waiting()).toBe(0);
      await sealer.beforeApplicationShutdown();
      await setting.record(workspace);
      await delay(60);
      expect(await waiting()).toBe(1);
      await setting.seal(workspace);
      expect(warnings.mock.calls).toEqual([]);
    });

    it('is part of every replica', async () => {
      const app = await startApp();
      try {
        const workspace = await app.arrange.aWorkspace();
        const { id } = await app.arrange.anAsset(workspace);
        const client = await app.arrange.aClient(workspace);
        await client.patch(`/v1/inventory/assets/${id}`, { description: 'to be sealed' });
        const waiting = async (): Promise<boolean> => {
          const sql = 'SELECT FROM audit_event WHERE asset_id = $1 AND sequence IS NULL';
          return (await app.database.admin.query(sql, [id])).rowCount === 1;
        };
        expect(await waiting()).toBe(true);
        for (const deadline = Date.now() + 15_000; (await waiting()) && Date.now() < deadline;) await delay(100);
        expect(await waiting()).toBe(false);
      } finally {
        await app.stop();
      }
    });

    it('says once that it fails and once that it works again, and goes on trying', async () => {
      const failures = [true, true, true, false, false];
      const store = {
        workspacesToSeal: jest.fn(async () => {
          if (failures.shift()) throw new Error('connection refused');
          return [];
        }),
        sealNext: jest.fn(),
      };
      const sealer = new AuditSealer(store, setting.evidence(), { now: () => 0 }, 5);
      sealer.onApplicationBootstrap();
      for (const deadline = Date.now() + 5_000; failures.length > 0 && Date.now() < deadline;) await delay(5);
      await sealer.beforeApplicationShutdown();
      expect(warnings).toHaveBeenCalledTimes(1);
      expect(notes).toHaveBeenCalledTimes(1);
    });

    it('is not kept from the workspaces that follow by one that fails', async () => {
      const broken = await setting.aChain();
      await setting.tamper(broken, `UPDATE audit_head SET mac = sha256('') WHERE workspace_id = $1`);
      const workspaces = [await setting.aWorkspace(), await setting.aWorkspace(), await setting.aWorkspace()];
      for (const workspace of workspaces) await setting.record(workspace);
      expect(await setting.sealer().sealAll()).toBe(3);
      await setting.tamper(broken, 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL');
    });
  });

  describe('as the runtime role', () => {
    let api: Client;
    let workspace: WorkspaceId;
    beforeAll(async () => {
      workspace = await setting.aChain();
      api = new Client({ connectionString: setting.database.databaseUrl });
      await api.connect();
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    });
    afterAll(() => api.end());

    it.each(['audit_event', 'audit_seal', 'audit_head'])('nothing of %s can be changed or removed', async (table) => {
      for (const sql of [
        ...[`UPDATE ${table} SET mac = mac`, `DELETE FROM ${table}`, `TRUNCATE ${table}`],
        `ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`,
      ]) {
        await expect(api.query(sql)).rejects.toMatchObject({ code: '42501' });
      }
    });

    it('no place in the chain can be written', async () => {
      for (const sql of [
        'INSERT INTO audit_event SELECT * FROM audit_event LIMIT 1',
        'INSERT INTO audit_event (sequence) VALUES (7)',
        `INSERT INTO audit_seal VALUES (gen_random_uuid(), 1, 2, '', now(), '')`,
        `INSERT INTO audit_head VALUES (gen_random_uuid(), 1, '', '')`,
      ]) {
        await expect(api.query(sql)).rejects.toMatchObject({ code: '42501' });
      }
    });

    it('the sealing function takes no event that is sealed, of another workspace or not there, and no other place', async () => {
      const code = Buffer.alloc(32, 1);
      const seal = (ids: unknown[], first: number) =>
        api.query('SELECT seal_audit_events($1, $2, $3, now(), $4, $4)', [ids, ids.map(() => code), first, code]);
      const idsWhere = async (condition: string, of = workspace) =>
        (await rowsOf(of, `(SELECT * FROM audit_event WHERE ${condition}) AS event`, 'id')).map(({ id }) => id);
      const foreign = await setting.aWorkspace();
      await setting.record(foreign);
      const unsealed = await idsWhere('sequence IS NULL');
      for (const ids of [
        await idsWhere('sequence = 6'),
        await idsWhere('true', foreign),
        [...unsealed, randomUUID()],
        [unsealed[0], unsealed[0]],
        [],
      ]) {
        await expect(seal(ids, 7)).rejects.toMatchObject({ code: expect.stringMatching(/P0001|23/) as string });
      }
      for (const first of [1, 6, 8]) {
        await expect(seal(unsealed, first)).rejects.toMatchObject({
          code: expect.stringMatching(/P0001|23/) as string,
        });
      }
      expect(await setting.verify(workspace)).toBe('ok');
    });
  });
});
