/**
 * @needs python3
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { runAdmin } from '../support/admin-command';
import type { ApiClient } from '../support/api-client';
import { examplesOf } from '../support/doc-examples';
import { documentOf, expectFault } from '../support/finished-command';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { type FinishedCommand, RunningCommand } from '../support/running-command';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';
import { until } from '../support/until';

const [program] = examplesOf('verify-the-audit.md').filter(({ name }) => name === 'verify');

/** Enough to write for longer than it takes to kill. */
const EVENTS_TO_KILL = 5_000;

interface Archived {
  readonly archived: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly file: string;
  readonly checkpoint: string;
}
interface EventBody {
  readonly sequence: number;
}
interface ListBody {
  readonly results: readonly EventBody[];
  readonly resumeCursor: string;
}

describe('admin audit archive', () => {
  let app: TestApp;
  let sealing: Sealing;
  let workspace: string;
  let slug: string;
  let asset: string;
  let token: string;
  let client: ApiClient;
  let directory: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    demandProgram('python3');
    app = await startApp();
    sealing = await Sealing.of(app);
    environment = {
      DATABASE_URL: app.database.databaseUrl,
      MIGRATION_DATABASE_URL: app.database.migrationDatabaseUrl,
      LOCAL_DIR: app.settings.localDir,
      BASE_URL: 'https://api.example.test',
    };
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    await sealing.close();
    await app.stop();
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'compliance-audit-'));
    workspace = await app.arrange.aWorkspace();
    token = await app.arrange.aToken(workspace, ['all:read', 'inventory:write']);
    client = app.client(token);
    asset = (await app.arrange.anAsset(workspace)).id;
    slug = await app.arrange.slugOf(workspace);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const run = (...words: string[]): Promise<FinishedCommand> => runAdmin(['audit', ...words], environment);
  const archiveWith = (before: string, into: string): Promise<FinishedCommand> =>
    run('archive', into, '--workspace', slug, '--before', before, '--yes', '--json');
  const archive = async (): Promise<Archived> =>
    documentOf(await archiveWith('2999-01-01', directory)) as unknown as Archived;
  const verdict = async (): Promise<string> => {
    const { stdout, stderr } = await run('verify', '--workspace', slug);
    return stdout + stderr;
  };
  const sizeOfTree = async (): Promise<number> =>
    Number((await client.get('/v1/audit-events/checkpoint')).text.split('\n')[1]);
  const untilInTree = async (events: number): Promise<void> =>
    until(async () => {
      await sealing.seal();
      return (await sizeOfTree()) === events;
    });
  const record = async (...descriptions: string[]): Promise<void> => {
    const size = (await sizeOfTree()) + descriptions.length;
    for (const description of descriptions) {
      expect((await client.patch(`/v1/inventory/assets/${asset}`, { description })).status).toBe(200);
    }
    await untilInTree(size);
  };
  const list = (query = '') => client.get<ListBody>(`/v1/audit-events${query}`);
  const sequences = async (query = ''): Promise<number[]> =>
    (await list(query)).body.results.map((one) => one.sequence);
  const cursorAt = async (sequence: number): Promise<string> => (await list(`?pageSize=${sequence}`)).body.resumeCursor;
  const linesOf = (file: string): EventBody[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as EventBody);
  const rows = async (): Promise<number> =>
    Number(
      (
        await app.database.admin.query<{ n: string }>('SELECT count(*) AS n FROM audit_event WHERE workspace_id = $1', [
          workspace,
        ])
      ).rows[0]?.n,
    );
  const tamper = (statement: string) => app.database.admin.query(statement, [workspace]);
  const from = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, place) => first + place);
  /** Runs the program of the documentation, which keeps a checkpoint in a directory of its own. */
  const stranger = async (...archives: string[]): Promise<string> => {
    const own = join(directory, 'stranger');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'verify.py'), program?.code ?? '');
    const env = { PATH: searchPath(), BASE_URL: app.origin, TOKEN: token };
    return promisify(execFile)('python3', ['verify.py', ...archives], { cwd: own, env, timeout: 60_000 }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  };

  it.each(['', 'since=now&'])('leaves a cursor of ?%suntil=… usable', async (since) => {
    await record('one');
    await record('two');
    await archive();

    const { body } = await list(`?${since}until=2020-01-01T00:00:00Z`);
    const next = await list(`?pageCursor=${body.resumeCursor}`);

    expect([body.results, next.status, next.body.results]).toEqual([[], 200, []]);
  });

  it('moves old events to a file as clients read them, beside a checkpoint, and keeps the rest', async () => {
    await record('one', 'Zugriff “Süd” 🗝 \u0085 \u2028 \u2029 \\ "', 'three', 'four');
    await record('five', 'six');
    const before = (await list()).body.results;

    const done = await archive();

    const { lastSequence: last, file, checkpoint } = done;
    expect(last).toBeGreaterThanOrEqual(4);
    expect(done).toMatchObject({ workspace: slug, archived: last, firstSequence: 1 });
    expect(linesOf(file)).toEqual(before.slice(0, last));
    expect(readFileSync(checkpoint, 'utf8')).toMatch(
      new RegExp(`^api\\.example\\.test/audit/${workspace}\\n${last}\\n[^\\n]+\\n\\n— [^\\n]+\\n$`),
    );
    expect(readdirSync(directory)).toHaveLength(2);
    expect(await rows()).toBe(6 - last);
    expect(await sequences()).toEqual(from(last + 1, 6));
    const [archived, kept] = [before[last - 1], before[last]] as unknown as { readonly recordedAt: string }[];
    expect(await sequences(`?since=${kept?.recordedAt}`)).toEqual(from(last + 1, 6));
    for (const since of ['2020-01-01T00:00:00Z', archived?.recordedAt]) {
      expect(await list(`?since=${since}`)).toMatchObject({
        status: 410,
        body: { code: 'cursor_expired', errors: [{ parameter: 'since', code: 'archived' }] },
      });
    }
    expect(await verdict()).toMatch(/^\d sealed and 0 unsealed events: all as/);
    await record('seven');
    expect(await sequences()).toEqual(from(last + 1, 7));
    expect(await verdict()).toMatch(/all as they were recorded/);
    const stream = await client.get('/v1/audit-events', {
      headers: { Accept: 'application/x-ndjson' },
    });
    expect(stream.text).toMatch(new RegExp(`^{"type":"event","event":{"id":"[^"]+","sequence":${last + 1},`));
  });

  it('refuses only cursors that have missed an event', async () => {
    const empty = (await list()).body.resumeCursor;
    await record('one', 'two', 'three');
    await record('four');
    const cursors = [empty, ...(await Promise.all([1, 2, 3, 4].map(cursorAt)))];

    const { lastSequence: last } = await archive();

    for (const [seen, cursor] of cursors.entries()) {
      const { status, body } = await list(`?pageCursor=${cursor}`);
      if (seen < last) {
        expect(body).toMatchObject({ code: 'cursor_expired', errors: [{ parameter: 'pageCursor', code: 'purged' }] });
        expect(status).toBe(410);
      } else expect(body.results.map(({ sequence }) => sequence)).toEqual(from(seen + 1, 4));
    }
    // A reader that begins now, and is shown nothing, has missed nothing.
    const { resumeCursor } = (await list('?until=2020-01-01T00:00:00Z')).body;
    expect((await list(`?pageCursor=${resumeCursor}`)).status).toBe(200);
  });

  it('still finds alterations of the events that are kept and of the floor', async () => {
    await record('one', 'two');
    await record('three');
    await record('four');
    await archive();
    for (const [statement, complaint] of [
      [`UPDATE audit_event SET client_id = 'ci_x' WHERE workspace_id = $1`, /altered or forged/],
      ['DELETE FROM audit_event WHERE workspace_id = $1', /missing/],
      [
        `UPDATE audit_checkpoint SET recorded_at = recorded_at - interval '1 s' WHERE workspace_id = $1 AND is_floor`,
        /checkpoint .* was altered/,
      ],
      [
        `UPDATE audit_checkpoint SET last_event = gen_random_uuid() WHERE workspace_id = $1 AND is_floor`,
        /was altered/,
      ],
      [`UPDATE audit_checkpoint SET roots = '{}' WHERE workspace_id = $1 AND is_floor`, /was altered/],
      ['UPDATE audit_checkpoint SET is_floor = false WHERE workspace_id = $1', /was altered/],
      ['UPDATE audit_checkpoint SET is_floor = true WHERE workspace_id = $1 AND NOT is_floor', /was altered/],
      ['DELETE FROM audit_checkpoint WHERE workspace_id = $1 AND is_floor', /missing/],
      ['DELETE FROM audit_checkpoint WHERE workspace_id = $1', /missing/],
    ] as const) {
      const tables = ['audit_event', 'audit_checkpoint'];
      for (const table of tables) await app.database.admin.query(`CREATE TABLE kept_${table} AS TABLE ${table}`);
      await tamper(statement);
      expect(await verdict()).toMatch(complaint);
      for (const table of tables) {
        await app.database.admin.query(`DELETE FROM ${table}`);
        await app.database.admin.query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
        await app.database.admin.query(`DROP TABLE kept_${table}`);
      }
    }
    expect(await verdict()).toMatch(/all as they were recorded/);
  });

  it('lets a customer verify archives and API against an earlier checkpoint', async () => {
    await record('one', 'Zugriff “Süd” 🗝 \u2028 \u2029');
    await record('three', 'four');
    expect(await stranger()).toMatch(/^4 events fit/);
    const first = await archive();
    await record('five');
    const second = await archive();
    expect(second.firstSequence).toBe(first.lastSequence + 1);
    await record('six');

    expect(await stranger(first.file, second.file)).toBe(
      '6 events fit the new checkpoint, 4 of them also the kept one.\n',
    );
    expect(await stranger(second.file)).toMatch(/were changed/);
    writeFileSync(first.file, readFileSync(first.file, 'utf8').replace('one', 'two'));
    expect(await stranger(first.file, second.file)).toMatch(/were changed/);
  });

  it('removes nothing when a file cannot be written or has other content, and continues after an interruption', async () => {
    await record('one', 'two');
    await record('three');
    expectFault(await archiveWith('2999-01-01', join(directory, 'missing')), 1, /there is no directory .*missing/);
    writeFileSync(join(directory, 'file'), '');
    expectFault(await archiveWith('2999-01-01', join(directory, 'file')), 1, /file/);
    rmSync(join(directory, 'file'));
    expect(documentOf(await archiveWith('2020-01-01', directory))).toMatchObject({ archived: 0, file: null });
    expect([await rows(), readdirSync(directory)]).toEqual([3, []]);

    // The rows cannot go, as when the command is killed before it removes them.
    await app.database.admin.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON audit_event EXECUTE FUNCTION refuse()`);
    expectFault(await archiveWith('2999-01-01', directory), 1, /not now/);
    await app.database.admin.query('DROP FUNCTION refuse CASCADE');
    const names = readdirSync(directory).map((name) => join(directory, name));
    expect([await rows(), names.length]).toEqual([3, 2]);
    expect(await verdict()).toMatch(/^3 sealed/);

    for (const name of names) {
      const text = readFileSync(name, 'utf8');
      for (const other of ['another file\n', text.trimEnd()]) {
        writeFileSync(name, other);
        expectFault(await archiveWith('2999-01-01', directory), 1, /Move it away\. Nothing was removed\./);
        expect([await rows(), readFileSync(name, 'utf8')]).toEqual([3, other]);
      }
      writeFileSync(name, text);
    }
    const done = await archive();
    expect([await rows(), names]).toEqual([3 - done.archived, expect.arrayContaining([done.file, done.checkpoint])]);
    expect(documentOf(await archiveWith('2999-01-01', directory))).toMatchObject({ archived: 0 });
  });

  it('loses nothing when it is killed while it writes, and works the next time', async () => {
    const ids = [asset, ...(await app.arrange.manyAssets(workspace, 99))];
    for (let done = 0; done < EVENTS_TO_KILL; done += ids.length) {
      const patch = { description: `Review ${done}` };
      expect((await client.patch('/v1/inventory/assets', { ids, patch })).status).toBe(200);
    }
    await untilInTree(EVENTS_TO_KILL);
    await record('one');
    await record('two');
    const words = ['audit', 'archive', directory, '--workspace', slug, '--before', '2999-01-01', '--yes'];
    const killed = new RunningCommand('apps/admin/run.mjs', words, environment);
    const written = (): number =>
      readdirSync(directory).reduce((bytes, name) => bytes + statSync(join(directory, name)).size, 0);
    for (const until = Date.now() + 60_000; written() === 0 && Date.now() < until;) await delay(1);

    await killed.signal('SIGKILL');

    expect((await killed.finished).exitCode).toBeNull();
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/\.ndjson\..*\.part$/)]);
    expect(await rows()).toBe(EVENTS_TO_KILL + 2);
    const { archived, file } = await archive();
    expect(linesOf(file).map(({ sequence }) => sequence)).toEqual(from(1, archived));
    expect(await rows()).toBe(EVENTS_TO_KILL + 2 - archived);
    expect(await sequences()).toEqual(from(archived + 1, EVENTS_TO_KILL + 2));
    expect(await verdict()).toMatch(/all as they were recorded/);
  });

  it('archives nothing when the audit was altered', async () => {
    await record('one', 'two');
    await record('three');
    for (const sequence of [1, 2]) {
      await tamper(`CREATE TABLE kept AS SELECT * FROM audit_event WHERE workspace_id = $1`);
      await tamper(`UPDATE audit_event SET client_id = 'ci_x' WHERE workspace_id = $1 AND sequence = ${sequence}`);
      expectFault(await archiveWith('2999-01-01', directory), 1, /was altered\. Nothing was removed/);
      await tamper('DELETE FROM audit_event WHERE workspace_id = $1');
      await app.database.admin.query('INSERT INTO audit_event SELECT * FROM kept; DROP TABLE kept');
    }
    expect(await rows()).toBe(3);
  });

  it('takes a directory as its caller names it, where npm runs it in another one', async () => {
    await record('one');
    await record('two');
    mkdirSync(join(directory, 'here'));
    const words = ['audit', 'archive', 'here', '--workspace', slug, '--before', '2999-01-01', '--yes', '--json'];
    const caller = { npm_lifecycle_event: 'admin', INIT_CWD: directory };
    const { file } = documentOf(await runAdmin(words, { ...environment, ...caller })) as unknown as Archived;
    expect(file).toContain(join(directory, 'here'));
  });

  it('exits with 2 without a time, a directory or a confirmation', async () => {
    const words = ['archive', directory, '--workspace', slug, '--before', '90d'];
    expectFault(await run(...words), 2, /--yes/);
    for (const missing of [1, 5]) expect((await run(...words.toSpliced(missing, 1), '--yes')).exitCode).toBe(2);
    expectFault(
      await run('archive', directory, '--workspace', 'nobody', '--before', '90d', '--yes'),
      1,
      /no workspace/,
    );
  });
});
