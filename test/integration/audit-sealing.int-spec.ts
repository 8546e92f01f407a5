/** @quiet Its largest statements come close to the limit of five seconds. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { Clock, type WorkspaceId } from '#libs/kernel';
import { AuditSealer } from '../../libs/audit/src/system/audit-sealer';
import { AuditSetting } from '../support/audit-setting';

/** Returns the SQL of docs/audit.md that has this statement, for this workspace. */
function documented(statement: string, workspace: WorkspaceId, first = 0): string {
  const blocks = [...readFileSync('docs/audit.md', 'utf8').matchAll(/```sql\n(.+?)```/gs)].map(([, sql = '']) => sql);
  const sql = blocks.find((block) => block.includes(`${statement} audit_event`));
  if (!sql?.includes(`:'workspace'`)) throw new Error('docs/audit.md has no such statements');
  return sql.replaceAll(`:'workspace'`, `'${workspace}'`).replaceAll(':first', String(first));
}

const SEAL = 'SELECT extend_audit($1, $2, $3, now(), $4)';

describe('Audit sealing', () => {
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

  it('seals waiting events of every workspace in time order, two hundred at a time', async () => {
    const [large, small] = [await setting.aWorkspace(), await setting.aWorkspace()];
    for (let update = 0; update < 21; update += 1) await setting.record(large, 100);
    await setting.record(small, 3);
    expect(await setting.sealer().sealAll()).toBe(2_103);
    expect(await setting.sealer().sealAll()).toBe(0);
    const checkpoints = await rowsOf(large, 'audit_checkpoint', 'size');
    const sizes = Array.from({ length: 11 }, (_, batch) => String(Math.min((batch + 1) * 200, 2_100)));
    expect(checkpoints.map(({ size }) => size)).toEqual(sizes);
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

  it('dates events by the clock of Postgres, whatever that of the instance', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace);
    const ahead = { now: () => Date.now() + 366 * 86_400_000 };
    await new AuditSealer(setting.checkpointStore(), setting.evidence(), ahead).sealAll();
    const [checkpoint] = await rowsOf(workspace, 'audit_checkpoint', 'size');
    expect(Math.abs((checkpoint?.['recorded_at'] as Date).getTime() - Date.now())).toBeLessThan(60_000);
  });

  it('gives every workspace a turn after each batch, and looks at the backlog, while events arrive', async () => {
    const [large, late] = [await setting.aWorkspace(), await setting.aWorkspace()];
    for (let update = 0; update < 5; update += 1) await setting.record(large, 100);
    const store = setting.checkpointStore();
    const sealNext = store.sealNext.bind(store);
    const turns: WorkspaceId[] = [];
    jest.spyOn(store, 'sealNext').mockImplementation(async (workspace, ...rest) => {
      if (turns.push(workspace) === 1) await setting.record(late);
      return sealNext(workspace, ...rest);
    });
    const looks = jest.spyOn(store, 'backlog');

    expect(await new AuditSealer(store, setting.evidence(), new Clock()).sealAll()).toBe(501);

    expect([turns[0], turns.slice(1, 3).sort(), turns.slice(3)]).toEqual([large, [large, late].sort(), [large]]);
    expect(looks).toHaveBeenCalledTimes(3);
  });

  it('records and seals a bulk update of 100 assets with values of maximum length', async () => {
    const workspace = await setting.aWorkspace();
    const text = '𝄞é"\\'.repeat(25_000);
    await setting.record(workspace, 100, { fields: { description: { old: text, new: `${text}.` } } });
    await setting.sealer().sealAll();
    expect(await setting.audit.verify([workspace])).toMatchObject({ ok: true, sealed: 100, unsealed: 0 });
    // They are in memory by ten megabytes.
    expect((await rowsOf(workspace, 'audit_checkpoint', 'size')).length).toBeGreaterThan(3);
  });

  it('keeps the audit valid at every moment while two instances seal during changes', async () => {
    const [workspace, other] = [await setting.aWorkspace(), await setting.anAudit()];
    const [writing, sealing, rival] = [
      await setting.anotherInstance(),
      await setting.anotherInstance(),
      await setting.anotherInstance(),
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
    // Two sealers of one workspace at once would collide in their keys, so they take turns.
    expect(warnings.mock.calls).toEqual([]);
  });

  it('skips a workspace that another instance is sealing', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace);
    const rival = await setting.anotherInstance();
    let asked = 0;
    await rival.inTenant({ workspaceId: workspace }, async (manager) => {
      await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('audit seal ' || $1, 0))`, [workspace]);
      const begun = Date.now();
      expect(await setting.sealer().sealAll()).toBe(0);
      asked = Date.now() - begun;
    });
    // A waiting sealer would take a connection from requests and log a warning after lock_timeout.
    expect(asked).toBeLessThan(1_500);
    expect(warnings.mock.calls).toEqual([]);
    expect(await setting.sealer().sealAll()).toBe(1);
  });

  it('seals in time order, whatever order the rows are read in', async () => {
    const workspace = await setting.aWorkspace();
    await setting.record(workspace, 5);
    const name = new URL(setting.database.databaseUrl).pathname.slice(1);
    // The oldest row is now the last of its page, and the session reads pages sequentially.
    await setting.tamper(
      workspace,
      `WITH oldest AS (
         DELETE FROM audit_event WHERE workspace_id = $1 AND id = (
           SELECT id FROM audit_event WHERE workspace_id = $1 ORDER BY id LIMIT 1) RETURNING *)
       INSERT INTO audit_event SELECT * FROM oldest`,
      `ALTER DATABASE ${name} SET enable_indexscan = off`,
    );
    try {
      expect(await setting.sealer(await setting.anotherInstance()).sealAll()).toBe(5);
    } finally {
      await setting.tamper(workspace, `ALTER DATABASE ${name} RESET enable_indexscan`);
    }
    const ids = (await rowsOf(workspace, 'audit_event', 'sequence')).map(({ id }) => id as string);
    expect(ids).toEqual([...ids].sort());
  });

  it('stops before a forged or altered event, logs it once, and continues in other workspaces', async () => {
    const [workspace, other] = [await setting.aWorkspace(), await setting.aWorkspace()];
    for (const place of [workspace, other]) await setting.record(place, 4);
    const third = `id = (SELECT id FROM audit_event WHERE workspace_id = $1 ORDER BY id OFFSET 2 LIMIT 1)`;
    await setting.tamper(workspace, `UPDATE audit_event SET client_id = 'ci_x' WHERE workspace_id = $1 AND ${third}`);
    const [sealer, rival] = [setting.sealer(), await setting.anotherInstance()];
    expect(await sealer.sealAll()).toBe(2 + 4);
    expect(await sealer.sealAll()).toBe(0);
    // Another instance that seals must not hide the failure.
    const trying = `SELECT pg_advisory_xact_lock(hashtextextended('audit seal ' || $1, 0))`;
    await rival.inTenant({ workspaceId: workspace }, async (manager) => {
      await manager.query(trying, [workspace]);
      expect(await sealer.sealAll()).toBe(0);
    });
    expect(await sealer.sealAll()).toBe(0);
    expect([errors.mock.calls.length, notes.mock.calls.length]).toEqual([1, 0]);
    expect(Object.fromEntries(sealer.failures.entries())).toEqual({ altered: 2, unavailable: 0 });
    expect(await setting.verify(workspace)).toMatchObject({
      sequence: null,
      reason: expect.stringMatching(/MAC/) as string,
    });
    await setting.tamper(
      workspace,
      `UPDATE audit_event SET client_id = 'ci_test' WHERE workspace_id = $1 AND ${third}`,
    );
    expect(await sealer.sealAll()).toBe(2);
    expect(notes).toHaveBeenCalledTimes(1);
    expect(await setting.audit.verify([workspace])).toMatchObject({ ok: true, sealed: 4 });
  });

  it('starts again after the audit was set aside as documented, while updates go on', async () => {
    const workspace = await setting.anAudit();
    await setting.tamper(workspace, 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence = 3');
    const client = new Client(setting.database.migrationDatabaseUrl);
    await client.connect();
    try {
      await setting.record(workspace, 2, {
        meanwhile: async () => void (await client.query(documented('DELETE FROM', workspace))),
      });
    } finally {
      await client.end();
    }
    expect(await setting.audit.verify([workspace])).toMatchObject({ ok: true, sealed: 0, unsealed: 2 });
    expect(await setting.sealer().sealAll()).toBe(2);
    expect(await setting.verify(workspace)).toBe('ok');
    expect(errors.mock.calls).toEqual([]);
  });

  it('reports the number and age of unsealed events', async () => {
    const store = setting.checkpointStore();
    await setting.sealer().sealAll();
    expect(await store.backlog()).toEqual({
      ...{ unsealed: 0, oldestAt: null },
      bytes: expect.any(Number) as number,
    });
    const since = Date.now();
    const workspaces = [await setting.aWorkspace(), await setting.aWorkspace()].sort().reverse();
    for (const workspace of workspaces) {
      await setting.record(workspace, 2);
      await delay(20);
    }
    const { unsealed, oldestAt } = await store.backlog();
    expect(unsealed).toBe(4);
    expect(oldestAt?.getTime()).toBeGreaterThanOrEqual(since);
    const { rows } = await setting.database.admin.query<{ oldest: Date }>(
      'SELECT min(occurred_at) AS oldest FROM audit_event WHERE sequence IS NULL',
    );
    expect(oldestAt).toEqual(rows[0]?.oldest);
    const sealer = setting.sealer(setting.api, 5);
    await sealer.onApplicationBootstrap();
    for (const deadline = Date.now() + 60_000; !sealer.backlog && Date.now() < deadline;) await delay(5);
    await sealer.beforeApplicationShutdown();
    expect(sealer.backlog).toMatchObject({ unsealed: 0, oldestAt: null });
  });

  describe('by the worker of the API', () => {
    it('runs by itself, leaves a single connection to others in between, and stops on demand', async () => {
      const workspace = await setting.aWorkspace();
      const sealer = setting.sealer(setting.api, 10);
      await sealer.onApplicationBootstrap();
      for (let update = 0; update < 10; update += 1) await setting.record(workspace);
      const waiting = async () => (await setting.audit.verify([workspace])).unsealed;
      for (const deadline = Date.now() + 60_000; (await waiting()) > 0 && Date.now() < deadline;) await delay(10);
      expect(await waiting()).toBe(0);
      await sealer.beforeApplicationShutdown();
      await setting.record(workspace);
      await delay(60);
      expect(await waiting()).toBe(1);
      await setting.seal(workspace);
      expect(warnings.mock.calls).toEqual([]);
    });

    it('logs one failure and one recovery, and keeps trying', async () => {
      const failures = [true, true, true, false, false];
      const store = {
        workspacesToSeal: jest.fn(async () => {
          if (failures.shift()) throw new Error('connection refused');
          return [];
        }),
        newest: jest.fn(),
        sealNext: jest.fn(),
        backlog: async () => ({ unsealed: 0, oldestAt: null, bytes: 0 }),
      };
      const sealer = new AuditSealer(store, setting.evidence(), { now: () => 0 }, 5);
      await sealer.onApplicationBootstrap();
      for (const deadline = Date.now() + 60_000; failures.length > 0 && Date.now() < deadline;) await delay(5);
      await sealer.beforeApplicationShutdown();
      expect(warnings).toHaveBeenCalledTimes(1);
      expect(notes).toHaveBeenCalledTimes(1);
    });

    it('continues with other workspaces after one fails', async () => {
      const broken = await setting.anAudit();
      await setting.tamper(broken, `UPDATE audit_checkpoint SET mac = sha256('') WHERE workspace_id = $1`);
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
      workspace = await setting.anAudit();
      api = new Client({ connectionString: setting.database.databaseUrl });
      await api.connect();
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
    });
    afterAll(() => api.end());

    it.each(['audit_event', 'audit_checkpoint', 'audit_seal', 'audit_head'])(
      'cannot change or remove anything of %s',
      async (table) => {
        for (const sql of [
          ...[`UPDATE ${table} SET mac = mac`, `DELETE FROM ${table}`, `TRUNCATE ${table}`],
          `ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`,
        ]) {
          await expect(api.query(sql)).rejects.toMatchObject({ code: '42501' });
        }
      },
    );

    it('can seal an event without a valid key, which verification finds and no other seal follows', async () => {
      const victim = await setting.anAudit();
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [victim]);
      const { rows } = await api.query<{ id: string }>('SELECT id FROM audit_event WHERE sequence IS NULL ORDER BY id');
      const ids = rows.map(({ id }) => id);
      const seal = (mac: Buffer) => api.query(SEAL, [ids, 6, [mac], mac]);
      await expect(seal(Buffer.alloc(31, 1))).rejects.toMatchObject({ code: '23514' });
      await seal(Buffer.alloc(32, 1));
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
      expect(await setting.verify(victim)).toMatchObject({ sequence: 7 });
      await setting.record(victim);
      await setting.sealer().sealAll();
      expect(await rowsOf(victim, 'audit_checkpoint', 'size')).toHaveLength(4);
      expect(errors).toHaveBeenCalled();
      await setting.tamper(victim, 'DELETE FROM audit_event WHERE workspace_id = $1 AND sequence IS NULL');
    });

    it('loses what it sealed, and no genuine event, by the documented way', async () => {
      const victim = await setting.anAudit();
      const kept = await rowsOf(victim, 'audit_checkpoint', 'size');
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [victim]);
      const forged = randomUUID();
      await api.query(
        `INSERT INTO audit_event (workspace_id, id, occurred_at, action, actor_type, target_type, changes, mac)
         VALUES ($1, $2, now(), 'application.created', 'OPERATOR', 'APPLICATION', '{}', $3)`,
        [victim, forged, Buffer.alloc(32, 1)],
      );
      const { rows } = await api.query<{ id: string }>('SELECT id FROM audit_event WHERE sequence IS NULL');
      const code = Buffer.alloc(32, 1);
      await api.query(SEAL, [rows.map(({ id }) => id), 6, [code], code]);
      await api.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
      const found = await setting.verify(victim);
      const owner = new Client(setting.database.migrationDatabaseUrl);
      await owner.connect();

      await owner.query(documented('UPDATE', victim, Number(found !== 'ok' && found?.sequence)));
      const waiting = await setting.verify(victim);
      await owner.query(`DELETE FROM audit_event WHERE id = '${forged}'`).finally(() => owner.end());
      await setting.sealer().sealAll();

      expect(found).toMatchObject({ sequence: 7, reason: expect.stringContaining('checkpoint') as string });
      expect(waiting).toMatchObject({ sequence: null, reason: expect.stringContaining(forged) as string });
      expect((await rowsOf(victim, 'audit_checkpoint', 'size')).slice(0, 3)).toEqual(kept);
      expect(await setting.audit.verify([victim])).toMatchObject({ ok: true, sealed: 8, unsealed: 0 });
    });

    it('cannot write a place in the audit', async () => {
      for (const sql of [
        'INSERT INTO audit_event SELECT * FROM audit_event LIMIT 1',
        'INSERT INTO audit_event (sequence) VALUES (7)',
        'INSERT INTO audit_checkpoint SELECT * FROM audit_checkpoint LIMIT 1',
      ]) {
        await expect(api.query(sql)).rejects.toMatchObject({ code: '42501' });
      }
    });

    it('cannot seal an event that is sealed, foreign or missing, or at another place', async () => {
      const code = Buffer.alloc(32, 1);
      const seal = (ids: unknown[], before: number) => api.query(SEAL, [ids, before, [code], code]);
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
        await expect(seal(ids, 6)).rejects.toMatchObject({ code: expect.stringMatching(/P0001|23/) as string });
      }
      for (const before of [0, 5, 7]) {
        await expect(seal(unsealed, before)).rejects.toMatchObject({
          code: expect.stringMatching(/P0001|23/) as string,
        });
      }
      expect(await setting.verify(workspace)).toBe('ok');
    });
  });
});
