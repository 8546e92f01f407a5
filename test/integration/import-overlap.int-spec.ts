import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ImportReport } from '#libs/inventory/operators';
import { poolOf } from '#libs/platform/database';
import type { ImportSession, MergeOutcome } from '../../libs/inventory/src/imports/domain/import-store.port';
import { NO_COUNTS } from '../../libs/inventory/src/imports/domain/recorded-run';
import { parseImportRecord } from '../../libs/inventory/src/imports/domain/import-record';
import { ImportStoreTypeorm } from '../../libs/inventory/src/imports/typeorm/import-store.typeorm';
import { StagingConnections } from '../../libs/inventory/src/imports/typeorm/staging-connections';
import { operatorDataSource } from '../support/database-connection';
import { EMPLOYEE, ImportSetting, PLAIN_SETTINGS, RECORDS, type Row } from '../support/import-setting';
import { importsOn } from '../support/imports';
import { AWAITED_LOCKS } from '../support/test-database';
import { anAuditRecorder } from '../support/audit-recorder';

const NOTHING_DONE = { counts: NO_COUNTS, hiddenWhy: null, errors: [], warnings: [] };

type Step = Row | (() => Promise<unknown>);

describe('Overlapping batches of an import', () => {
  let setting: ImportSetting;
  const openSecond = jest.spyOn(StagingConnections.prototype, 'openSecond');
  beforeAll(async () => {
    setting = await ImportSetting.open();
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());

  const dataset = (externalId: string, more: Row = {}): Row => ({ ...RECORDS, externalId, ...more });
  /** Long enough for a batch to be matched. */
  const aWhile = () => delay(300);
  /** The first batch begins to open the second connection. An import that ended meanwhile has none. */
  const secondIsOpen = () => Promise.allSettled([openSecond.mock.results.at(-1)?.value]);
  const isThere = (externalId: string) => () =>
    setting.until(`SELECT FROM asset WHERE workspace_id = '${setting.here}' AND external_id = '${externalId}'`);

  /** Imports two records per batch. Steps that are functions run before the next record is read. */
  async function run(...steps: readonly Step[]): Promise<ImportReport> {
    const lines = async function* () {
      let line = 0;
      try {
        for (const step of steps) {
          if (typeof step === 'function') await step();
          else yield { fileIndex: 0, line: (line += 1), value: step };
        }
      } finally {
        // A failed import waits for its batches, and a batch must not wait for the locks of a failed test.
        await setting.database.admin.query('ROLLBACK');
      }
    };
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    return setting.imports.runLines(setting.here, { ...options, batchSize: 2 }, lines());
  }

  /** The batch after these is the first that can be matched ahead. */
  const opening = [dataset('f-1'), dataset('f-2'), dataset('f-3'), secondIsOpen];

  /**
   * Returns a function that locks the rows in `named`, so that the batch that changes one waits, and a function that
   * releases them.
   */
  function held(named: string): readonly [() => Promise<unknown>, () => Promise<unknown>] {
    const { admin } = setting.database;
    return [
      () => admin.query(`BEGIN; SELECT FROM asset WHERE external_id = '${named}' FOR UPDATE`),
      async () => {
        await setting.until(`SELECT FROM ${AWAITED_LOCKS}`);
        await aWhile();
        await admin.query('COMMIT');
      },
    ];
  }

  async function withTrigger(body: string, work: () => Promise<void>): Promise<void> {
    const { admin } = setting.database;
    await admin.query(`
      CREATE SEQUENCE attempts;
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ${body} RETURN NEW; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON asset FOR EACH ROW EXECUTE FUNCTION fail()`);
    try {
      await work();
    } finally {
      await admin.query('DROP FUNCTION fail CASCADE; DROP SEQUENCE attempts');
    }
  }

  it('are written while the previous one waits for another writer', async () => {
    await setting.importAll(dataset('x'));
    const [hold, letGo] = held('x');
    const changed = dataset('x', { name: 'changed' });
    const following = [dataset('f-6'), EMPLOYEE, dataset('f-8'), isThere('f-6'), letGo];
    const report = await run(...opening, dataset('f-4'), hold, changed, dataset('f-5'), ...following);
    expect(report).toMatchObject({ read: 9, created: 8, updated: 1, failed: 0 });
  });

  it('are written while the previous one waits, although records of both wait for an owner', async () => {
    await setting.importAll(dataset('x'));
    const [hold, letGo] = held('x');
    const waits = { owner: EMPLOYEE['externalId'] };
    const waitingFirst = [
      ...opening,
      dataset('f-4', waits),
      hold,
      dataset('x', { name: 'changed' }),
      dataset('f-5', waits),
    ];
    const report = await run(
      ...waitingFirst,
      dataset('f-6', waits),
      dataset('f-7'),
      dataset('f-8'),
      isThere('f-7'),
      letGo,
      EMPLOYEE,
    );
    expect(report).toMatchObject({ read: 10, created: 9, updated: 1, failed: 0 });
    const owned = (await setting.rowsOf('asset')).filter((row) => row['owner_id'] !== null);
    expect(owned.map((row) => row['external_id']).sort()).toEqual(['f-4', 'f-5', 'f-6']);
  });

  it('see what the previous one does to an id that both contain', async () => {
    await setting.importAll(dataset('x'));
    const [hold, letGo] = held('x');
    const id = randomUUID();
    const changes = [dataset('x', { name: 'a' }), dataset('f-5', { id }), dataset('f-6', { id }), dataset('f-7')];
    const report = await run(...opening, dataset('f-4'), hold, ...changes, dataset('f-8'), letGo);
    expect(report).toMatchObject({ created: 7, updated: 1, failed: 1 });
    expect(report.errors).toEqual([{ line: 7, reason: 'The id belongs to another asset.' }]);
    expect(await setting.asset('f-5')).toMatchObject({ public_id: id });
  });

  it('see what the previous one does to an employee', async () => {
    await setting.importAll(EMPLOYEE);
    const [hold, letGo] = held('hr-17');
    const hidden = { ...EMPLOYEE, visibility: 'HIDDEN' };
    const owned = dataset('f-6', { owner: 'hr-17' });
    const report = await run(...opening, dataset('f-4'), hold, hidden, dataset('f-5'), owned, dataset('f-7'), letGo);
    expect(report.warnings).toEqual([{ line: 7, reason: 'owner is not a visible employee of this source.' }]);
    expect(report).toMatchObject({ created: 7, updated: 1, failed: 0 });
  });

  it('are written completely or not at all when one fails, and complete on the next run', async () => {
    const all = Array.from({ length: 10 }, (_, index) =>
      dataset(`f-${index + 1}`, { name: index === 5 ? 'bad' : 'good' }),
    );
    await withTrigger(`IF NEW.name = 'bad' THEN RAISE EXCEPTION 'the disk is full'; END IF;`, async () => {
      await expect(run(...all.slice(0, 3), secondIsOpen, ...all.slice(3))).rejects.toThrow('the disk is full');
    });
    const present = (await setting.rowsOf('asset')).map((row) => row['external_id']);
    expect(present.slice(0, 4)).toEqual(['f-1', 'f-2', 'f-3', 'f-4']);
    expect(present).not.toContain('f-5');
    expect(present.length % 2).toBe(0);
    const report = await run(...all);
    expect(report).toMatchObject({ created: 10 - present.length, unchanged: present.length, failed: 0 });
  });

  it('are stored in the order of the lines', async () => {
    const all = Array.from({ length: 200 }, (_, index) => dataset(`f-${index + 1}`));
    expect(await run(...all.slice(0, 3), secondIsOpen, ...all.slice(3))).toMatchObject({ created: 200 });
    const rows = await setting.rowsOf('asset');
    expect(rows.map((row) => row['external_id'])).toEqual(all.map(({ externalId }) => externalId));
  });

  it('wait for the previous one if they change something, and are dropped when it fails', async () => {
    await setting.importAll(dataset('x'));
    await withTrigger(`IF NEW.name = 'bad' THEN RAISE EXCEPTION 'the disk is full'; END IF;`, async () => {
      const failing = [
        dataset('f-4'),
        dataset('f-5', { name: 'bad' }),
        dataset('f-6'),
        dataset('x', { name: 'changed' }),
      ];
      await expect(run(...opening, ...failing, dataset('f-7'), dataset('f-8'))).rejects.toThrow('the disk is full');
    });
    expect((await setting.asset('x'))['name']).toBe(RECORDS.name);
  });

  it('are merged again from the start after a deadlock', async () => {
    const deadlock = `IF NEW.name = 'unlucky' AND nextval('attempts') = 1 THEN
      RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;`;
    await withTrigger(deadlock, async () => {
      const unlucky = [dataset('f-4'), dataset('f-5'), dataset('f-6', { name: 'unlucky' }), dataset('f-7')];
      const report = await run(...opening, ...unlucky, dataset('f-8'), dataset('f-9'));
      expect(report).toMatchObject({ read: 9, created: 9, failed: 0 });
      const { rows } = await setting.database.admin.query('SELECT last_value::int FROM attempts');
      expect(rows).toEqual([{ last_value: 2 }]);
    });
  });

  it('wait for owners like other batches', async () => {
    await setting.importAll(dataset('x'));
    const [hold, letGo] = held('x');
    const late = { ...EMPLOYEE, externalId: 'hr-99' };
    const owned = (externalId: string) => dataset(externalId, { owner: 'hr-99' });
    const report = await run(
      ...[...opening, dataset('f-4'), dataset('f-5'), dataset('f-6'), hold, dataset('x', { name: 'changed' })],
      ...[owned('a'), owned('b'), owned('c'), owned('d'), letGo, dataset('a', { name: 'later' }), late, owned('e')],
    );
    expect(report).toMatchObject({ created: 12, updated: 1, failed: 1 });
    expect(report.errors).toEqual([{ line: 12, reason: 'externalId is already on line 8.' }]);
    const employee = (await setting.asset('hr-99'))['public_id'];
    const owners: unknown[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) owners.push((await setting.asset(name))['owner_id']);
    expect(owners).toEqual([employee, employee, employee, employee, employee]);
    expect((await setting.asset('a'))['name']).toBe(RECORDS.name);
  });

  it('may contain the owner that the previous one waits for', async () => {
    const tooEarly = `IF NEW.name = 'unlucky' AND nextval('attempts') = 1 THEN
      FOR second IN 1..20 LOOP
        EXIT WHEN EXISTS (SELECT FROM asset WHERE external_id = 'hr-99');
        PERFORM pg_sleep(0.05);
      END LOOP;
      RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;`;
    await withTrigger(tooEarly, async () => {
      const waiting = [dataset('f-4'), dataset('a', { owner: 'hr-99' }), dataset('f-6', { name: 'unlucky' })];
      const late = { ...EMPLOYEE, externalId: 'hr-99' };
      const report = await run(...opening, ...waiting, late, dataset('f-8'), dataset('f-9'));
      expect(report).toMatchObject({ read: 9, created: 9, failed: 0 });
      expect((await setting.asset('a'))['owner_id']).toBe((await setting.asset('hr-99'))['public_id']);
    });
  });

  it('leave off a tag that was removed from all assets while they waited', async () => {
    const tagged = (more: Row = {}) => dataset('y', { tags: [{ key: 'env' }], ...more });
    await setting.importAll(dataset('x'), tagged());
    const [hold, letGo] = held('x');
    const untag = async () => {
      await setting.until(`SELECT FROM ${AWAITED_LOCKS}`);
      await aWhile();
      await setting.tagKeys.delete(setting.here, 'env');
    };
    const changes = [dataset('x', { name: 'changed' }), dataset('f-5'), tagged({ name: 'changed' }), dataset('f-6')];
    const report = await run(...opening, dataset('f-4'), hold, ...changes, dataset('f-7'), untag, letGo);
    expect(report).toMatchObject({ updated: 2, failed: 0 });
    expect(await setting.asset('y')).toMatchObject({ name: 'changed', tags: [] });
    expect(await setting.rowsOf('asset_tag')).toEqual([]);
  });

  describe('on a second connection', () => {
    const open = () => new ImportStoreTypeorm(setting.dataSource, anAuditRecorder()).open(setting.here, PLAIN_SETTINGS);
    /** Ends every connection of the pool except the import's first. */
    const loseOthers = () =>
      setting.database.admin.query(`
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'compliance-admin'
           AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`);

    const loseFirst = () =>
      setting.database.admin.query(`
        SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
         WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    /** Merges a batch of new records. */
    function merge(session: ImportSession, first: number, count: number, more: Row = {}): Promise<MergeOutcome> {
      for (let place = first; place < first + count; place += 1) {
        const { record } = parseImportRecord(dataset(`f-${place}`, more));
        if (record) session.add({ place, record, kept: null });
      }
      return session.merge(true, []);
    }
    async function expectReleased(): Promise<void> {
      const pool = poolOf(setting.dataSource);
      const taken = () => pool.totalCount - pool.idleCount;
      for (const deadline = Date.now() + 10_000; taken() > 0 && Date.now() < deadline; await aWhile());
      expect(taken()).toBe(0);
    }

    it('are complete when it is lost after the last batch', async () => {
      const session = await open();
      await merge(session, 1, 1);
      await secondIsOpen();
      expect((await merge(session, 2, 2_000)).created).toBe(2_000);
      await loseOthers();
      await session.close();
      expect((await setting.importAll(dataset('f-1'))).unchanged).toBe(1);
    });

    it('are complete when the first connection is lost after the last batch, and both are released', async () => {
      const session = await open();
      await merge(session, 1, 2_000);
      await loseFirst();
      await session.close();
      // The second connection may not exist yet; nothing waits for it.
      await expectReleased();
    });

    it.each([
      ['first', loseFirst],
      ['second', loseOthers],
    ])('fail when the %s is lost while records wait there for their owners, and both are released', async (_, lose) => {
      const session = await open();
      await merge(session, 1, 1);
      await secondIsOpen();
      // One batch waits on the second connection, the next one on the first.
      await merge(session, 2, 1, { owner: 'hr-9' });
      await merge(session, 3, 1, { owner: 'hr-9' });
      await lose();
      await expect(session.mergeDeferred('all')[Symbol.asyncIterator]().next()).rejects.toThrow();
      await session.end('FAILED', NOTHING_DONE);
      await session.close();
      await expectReleased();
    });

    it('continue without it when it is lost and no record waits there', async () => {
      const waits = dataset('f-0', { owner: EMPLOYEE.externalId });
      const report = await run(waits, ...opening, dataset('f-4'), isThere('f-3'), loseOthers, EMPLOYEE);
      expect(report).toMatchObject({ created: 6, failed: 0 });
    });

    it('continue without it when it is lost and the next batch could not overlap', async () => {
      const report = await run(...opening, dataset('f-4'), dataset('f-5'), isThere('f-4'), loseOthers, EMPLOYEE);
      expect(report).toMatchObject({ created: 6, failed: 0 });
    });

    it('need no second connection when the pool has only one', async () => {
      const dataSource = await operatorDataSource(setting.database);
      try {
        const imports = importsOn(dataSource);
        const start = performance.now();
        const file = setting.ndjson(dataset('f-1'), dataset('f-2'), dataset('f-3'));
        const common = { source: 'test', files: [file], dryRun: false, createTagKeys: null, batchSize: 2 } as const;
        expect((await imports.run(setting.here, { ...common, missing: 'keep' })).created).toBe(3);
        expect((await imports.run(setting.here, { ...common, missing: 'keep' })).unchanged).toBe(3);
        expect(performance.now() - start).toBeLessThan(5_000);
      } finally {
        await dataSource.destroy();
      }
    });
  });

  it('write what a dry run reports, where none overlap, for any records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { minLength: 1, maxLength: 60 }), async (records) => {
        await setting.enterWorkspace();
        await setting.importAll(...records.slice(0, 10).map((record) => ({ ...record, name: 'before' })));
        const dry = await setting.run(setting.ndjson(...records), { dryRun: true, batchSize: 2 });
        const real = await run(...records.slice(0, 3), secondIsOpen, ...records.slice(3));
        expect(real).toEqual({ ...dry, dryRun: false });
        const refused = new Set(real.errors.map(({ line }) => line));
        const rows = await setting.rowsOf('asset');
        const names = new Map(rows.map((row) => [row['external_id'], row['name']]));
        // The first line of an externalId is last here, so it wins.
        const lines = new Map(records.map(({ externalId }, index) => [externalId, index + 1] as const).reverse());
        for (const [externalId, line] of lines) {
          if (refused.has(line)) continue;
          expect([externalId, names.get(externalId)]).toEqual([externalId, records[line - 1]?.name]);
        }
      }),
      { numRuns: 10, interruptAfterTimeLimit: 60_000 },
    );
    expect(await setting.wrongCounters()).toEqual([]);
  });
});

const people = fc.constantFrom('hr-1', 'hr-2', 'hr-3');
const name = fc.constantFrom('a', 'b');
const anyEmployee = fc.record({
  categoryKey: fc.constant('EMPLOYEE'),
  externalId: people,
  name,
  visibility: fc.constantFrom('ACTIVE', 'ACTIVE', 'HIDDEN'),
});
const anyDataset = fc.record({
  categoryKey: fc.constant('INFORMATION'),
  externalId: fc.integer({ min: 1, max: 12 }).map((number) => `ds-${number}`),
  name,
  owner: fc.option(people, { freq: 2 }),
});
/** Few employees, so that most batches can overlap. */
const anyRecord = fc.oneof({ weight: 1, arbitrary: anyEmployee }, { weight: 9, arbitrary: anyDataset });
