import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { RemovedAssets } from '../../libs/inventory/src/changes/typeorm/removed-assets';
import { StagingConnection } from '../../libs/inventory/src/imports/typeorm/staging-connection';
import type { ImportReport } from '#libs/inventory/operators';
import { Database } from '#libs/platform/database';
import { Client } from 'pg';
import { BUCKET, EMPLOYEE, ImportSetting, LAPTOP, RECORDS, type Row } from '../support/import-setting';
import { AWAITED_LOCKS } from '../support/test-database';

describe('An import beside other operators', () => {
  let setting: ImportSetting;
  let removed: RemovedAssets;
  beforeAll(async () => {
    setting = await ImportSetting.open();
    removed = new RemovedAssets(new Database(setting.dataSource));
  });
  afterAll(() => setting.close());
  beforeEach(() => setting.enterWorkspace());
  // A failed test must not block the next one by its locks.
  afterEach(() => setting.database.admin.query('ROLLBACK'));

  const dataset = (externalId: string, more: Row = {}): Row => ({ ...RECORDS, externalId, ...more });
  const computer = (externalId: string, more: Row = {}): Row => ({ ...LAPTOP, owner: null, externalId, ...more });
  const hidden = { visibility: 'HIDDEN' };
  const purge = () => removed.purge(setting.here, new Date('2999-01-01'), () => undefined);
  const untilWaiting = (count: number) =>
    setting.until(`SELECT FROM ${AWAITED_LOCKS}
      HAVING count(*) >= ${count}`);
  const hold = (externalId: string) =>
    setting.database.admin.query(
      `BEGIN; SELECT FROM asset WHERE external_id = '${externalId}' AND workspace_id = '${setting.here}' FOR UPDATE`,
    );
  const release = () => setting.database.admin.query('COMMIT');

  const areWaiting = async (count: number) => {
    const waiting = `SELECT FROM ${AWAITED_LOCKS} HAVING count(DISTINCT pid) >= ${count}`;
    return (await setting.database.admin.query(waiting)).rowCount !== 0;
  };

  const isThere = (externalId: string) => () =>
    setting.until(`SELECT FROM asset WHERE external_id = '${externalId}' AND workspace_id = '${setting.here}'`);

  async function names(): Promise<unknown[]> {
    return (await setting.rowsOf('asset')).map((row) => row['external_id']).sort();
  }

  /** The purge has locked the first asset and waits for the last one. The import then finds both and waits for the first. */
  async function importDuringPurge(first: Row, last: Row): Promise<ImportReport> {
    await setting.importAll({ ...first, ...hidden }, { ...last, ...hidden });
    await hold(String(last['externalId']));
    const purging = purge();
    await untilWaiting(1);
    const importing = setting.importAll(first, last);
    await untilWaiting(2);
    await release();
    await purging;
    return importing;
  }

  describe.each([
    ['assets', dataset],
    ['computers', computer],
  ])('with %s that a purge deletes before it locks them', (_, record) => {
    it('creates them again', async () => {
      const report = await importDuringPurge(record('a'), record('b'));

      expect(report).toMatchObject({ read: 2, created: 2, failed: 0 });
      expect(await names()).toEqual(['a', 'b']);
    });
  });

  it('waits for the tag keys that the import of another source creates in another order', async () => {
    const rollback = jest.spyOn(StagingConnection.prototype, 'rollback');
    await setting.change(
      `BEGIN; INSERT INTO tag_key (workspace_id, key, platform) VALUES ('${setting.here}', 'k-2', true)`,
    );
    const imports = [
      ['k-1', 'k-2', 'k-3'],
      ['k-3', 'k-2', 'k-1'],
    ].map((keys, index) => {
      const file = setting.ndjson(dataset('a', { tags: keys.map((key) => ({ key })) }));
      return setting.run(file, { source: `s-${index}`, createTagKeys: 'platform' });
    });
    await untilWaiting(2);
    await release();

    expect(await Promise.all(imports)).toMatchObject([{ created: 1 }, { created: 1 }]);
    // A deadlock undoes one of them.
    expect(rollback).not.toHaveBeenCalled();
    rollback.mockRestore();
  });

  describe('whose batch another transaction undoes again and again', () => {
    /** More often than a batch is repeated. */
    const TIMES = 6;
    const numbers = Array.from({ length: TIMES }, (_, n) => n);
    let ended = false;
    const isWaiting = async (pid: number | null = null) => {
      const waiting = `SELECT FROM ${AWAITED_LOCKS} AND pid = COALESCE($1, pid)`;
      return (await setting.database.admin.query(waiting, [pid])).rowCount !== 0;
    };

    /** Two holders of a row take turns. The next one queues behind the import, so that each attempt waits for one. */
    async function importInTurns(
      heldRow: string,
      records: readonly Row[],
      whileImportWaits: (turn: number) => Promise<unknown>,
    ): Promise<ImportReport> {
      const holders = await Promise.all(
        [0, 1].map(async () => {
          const client = new Client({ connectionString: setting.database.migrationDatabaseUrl });
          await client.connect();
          const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          return { client, pid: rows[0]?.pid ?? 0 };
        }),
      );
      const take = async (turn: number) => {
        const { client } = holders[turn % 2] as (typeof holders)[number];
        await client.query(`BEGIN; SELECT set_config('app.workspace_id', '${setting.here}', true)`);
        await client.query(`SELECT FROM ${heldRow} AND workspace_id = '${setting.here}' FOR UPDATE`);
        return client;
      };
      let held = take(0);
      await held;
      ended = false;
      const importing = setting.importAll(...records).finally(() => (ended = true));
      importing.catch(() => undefined);
      for (const turn of numbers) {
        const holder = await held;
        while (!ended && !(await isWaiting())) await delay(20);
        if (!ended) await whileImportWaits(turn);
        held = take(turn + 1);
        while (!ended && !(await isWaiting(holders[(turn + 1) % 2]?.pid))) await delay(20);
        await holder.query('COMMIT');
      }
      await (await held).query('COMMIT');
      for (const { client } of holders) await client.end();
      return importing;
    }

    it('succeeds although assets of it are deleted before each attempt', async () => {
      const all = [dataset('held'), ...numbers.map((n) => dataset(`x-${n}`))];
      await setting.importAll(...all);
      const changed = all.map((record) => ({ ...record, name: 'changed' }));

      const report = await importInTurns(`asset WHERE external_id = 'held'`, changed, (turn) =>
        setting.change(`DELETE FROM asset WHERE external_id = 'x-${turn}' AND workspace_id = '${setting.here}'`),
      );

      expect(report).toMatchObject({ read: TIMES + 1, created: 2, updated: TIMES - 1, failed: 0 });
      expect(await names()).toEqual(all.map(({ externalId }) => externalId));
    });

    it('refuses one record, although a tag key of it is deleted before each attempt', async () => {
      for (const n of numbers)
        await setting.tagKeys.create(setting.here, { key: `k-${n}`, value: null, platform: false });
      await setting.importAll(dataset('x'));
      const tagged = numbers.map((n) => dataset(`x-${n}`, { tags: [{ key: `k-${n}` }] }));
      const deletions: Promise<unknown>[] = [];

      const records = [dataset('x', { name: 'changed' }), ...tagged];
      const report = await importInTurns('facet_count WHERE true', records, async (turn) => {
        let deleted = false;
        deletions.push(setting.tagKeys.delete(setting.here, `k-${turn}`).finally(() => (deleted = true)));
        while (!deleted && !(await areWaiting(2))) await delay(20);
      });
      await Promise.all(deletions);

      expect(report).toMatchObject({ read: TIMES + 1, updated: 1, created: TIMES - 1, failed: 1 });
    });
  });

  it('leaves employees who received an asset before a purge could lock them', async () => {
    await setting.importAll({ ...EMPLOYEE, ...hidden });
    const { public_id: owner } = await setting.asset(EMPLOYEE.externalId);
    await setting.change('BEGIN');
    await setting.change(`INSERT INTO asset (workspace_id, source, external_id, sub_key, name, owner_id, owner_source)
                          VALUES ('${setting.here}', 'other', 'x', 13, 'x', '${String(owner)}', 1)`);
    const purging = purge();
    await untilWaiting(1);
    await release();

    expect(await purging).toBe(0);
    expect(await names()).toEqual([EMPLOYEE.externalId, 'x']);
  });

  it('warns of an owner who was removed and purged meanwhile, and brings in the asset', async () => {
    await setting.importAll(EMPLOYEE, dataset('x'), dataset('y'));
    await hold('x');
    const owned = { owner: EMPLOYEE.externalId };
    const importing = setting.importAll(dataset('x', owned), dataset('new', owned));
    await untilWaiting(1);
    const database = new Database(setting.dataSource);
    await database.inTenant({ workspaceId: setting.here }, (manager) =>
      manager.query(`UPDATE asset SET visibility = 1 WHERE workspace_id = $1 AND external_id = $2`, [
        setting.here,
        EMPLOYEE.externalId,
      ]),
    );
    await purge();
    await release();

    expect(await importing).toMatchObject({
      read: 2,
      failed: 0,
      warnings: [1, 2].map((line) => ({ line, reason: 'owner is not a visible employee of this source.' })),
    });
    expect(await setting.asset('new')).toMatchObject({ owner_id: null });
  });

  it('refuses an id that the import of another source has taken meanwhile', async () => {
    const id = randomUUID();
    await setting.change('BEGIN');
    await setting.change(`INSERT INTO asset (workspace_id, public_id, source, external_id, sub_key, name)
                          VALUES ('${setting.here}', '${id}', 'other', 'x', 13, 'x')`);
    const importing = setting.importAll(dataset('a'), dataset('b', { id }));
    await untilWaiting(1);
    await release();

    expect(await importing).toMatchObject({
      created: 1,
      failed: 1,
      errors: [{ line: 2, reason: 'The id belongs to another asset.' }],
    });
  });

  it('waits for its input and for others, whatever the database allows others', async () => {
    const name = new URL(setting.database.migrationDatabaseUrl).pathname.slice(1);
    const limit = (to: string) =>
      setting.database.admin.query(`ALTER DATABASE ${name} ${to.replace('?', 'lock_timeout')};
                                    ALTER DATABASE ${name} ${to.replace('?', 'idle_session_timeout')}`);
    await setting.importAll(dataset('x'));
    const lines = async function* () {
      await delay(200);
      await hold('x');
      yield { fileIndex: 0, line: 1, value: dataset('x', { name: 'changed' }) };
    };
    const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
    await limit(`SET ? = '50ms'`);
    try {
      const importing = setting.imports.runLines(setting.here, options, lines());
      await Promise.race([untilWaiting(1), importing]);
      await delay(200);
      await release();

      expect(await importing).toMatchObject({ updated: 1 });
    } finally {
      await limit('RESET ?');
    }
  });

  describe('while an operator deletes a tag key', () => {
    const tagged = (externalId: string, more: Row = {}) => dataset(externalId, { tags: [{ key: 'env' }], ...more });
    const reason = 'tags: the key "env" does not exist in the workspace.';

    /** Imports in batches of two. Steps that are functions run before the next record is read. */
    async function run(...steps: readonly (Row | (() => Promise<unknown>))[]): Promise<ImportReport> {
      const lines = async function* () {
        let line = 0;
        for (const step of steps) {
          if (typeof step === 'function') await step();
          else yield { fileIndex: 0, line: (line += 1), value: step };
        }
      };
      const options = { source: 'test', files: [], dryRun: false, missing: 'keep', createTagKeys: null } as const;
      return setting.imports.runLines(setting.here, { ...options, batchSize: 2 }, lines());
    }
    const deleteKey = () => setting.tagKeys.delete(setting.here, 'env');

    it('refuses every record with it, and imports the others', async () => {
      const report = await run(
        ...[dataset('1'), tagged('2'), dataset('3'), isThere('2'), deleteKey],
        ...[tagged('4'), dataset('5'), tagged('6'), dataset('7'), tagged('8')],
      );

      expect(report).toMatchObject({ read: 8, created: 5, failed: 3 });
      expect(report.errors).toEqual([4, 6, 8].map((line) => ({ line, reason })));
      expect(await names()).toEqual(['1', '2', '3', '5', '7']);
    });

    it('refuses records that wait for their owner', async () => {
      const owner = EMPLOYEE.externalId;
      const report = await run(tagged('1', { owner }), dataset('2', { owner }), deleteKey, EMPLOYEE, dataset('4'));

      expect(report).toMatchObject({ read: 4, created: 3, failed: 1, errors: [{ line: 1, reason }] });
    });

    it('names every deleted key of a record', async () => {
      const deleteBoth = async () => {
        for (const { key } of BUCKET.tags) await setting.tagKeys.delete(setting.here, key);
      };

      const report = await run({ ...BUCKET, owner: null }, dataset('2'), deleteBoth);

      const both = 'tags: the keys "aws:stack", "env" do not exist in the workspace.';
      expect(report).toMatchObject({ created: 1, failed: 1, errors: [{ line: 1, reason: both }] });
    });

    it('accepts records with the key again once it was created again', async () => {
      const createKey = () => setting.tagKeys.create(setting.here, { key: 'env', value: 'test', platform: false });

      const report = await run(
        ...[dataset('1'), deleteKey, createKey, tagged('2')],
        ...[dataset('3'), dataset('4'), dataset('5'), isThere('3'), dataset('6'), tagged('7')],
      );

      expect(report).toMatchObject({ created: 6, failed: 1, errors: [{ line: 2, reason }] });
      expect(await setting.asset('7')).toMatchObject({ tags: [{ key: 'env', value: 'test' }] });
    });

    it('deletes it although its transaction loses a deadlock', async () => {
      await setting.importAll(tagged('a'), tagged('b'));
      await hold('b');
      const deleting = deleteKey();
      await untilWaiting(1);
      // The one that waited first finds the deadlock, and gives way.
      await setting.database.admin.query(
        `SELECT FROM asset WHERE external_id = 'a' AND workspace_id = '${setting.here}' FOR UPDATE`,
      );
      await release();

      expect(await deleting).toEqual({ assets: 2 });
      expect(await setting.rowsOf('asset_tag')).toEqual([]);
    });

    it('waits for the import, and takes the tag off its assets', async () => {
      await setting.importAll(dataset('x'));
      await hold('x');
      const importing = setting.importAll(dataset('x', { name: 'changed' }), tagged('y'));
      await untilWaiting(1);
      const deleting = deleteKey();
      await release();
      await deleting;

      const report = await importing;
      expect(report.updated).toBe(1);
      if (report.failed === 0) expect(await setting.asset('y')).toMatchObject({ tags: [] });
      expect(await setting.rowsOf('asset_tag')).toEqual([]);
    });
  });
});
