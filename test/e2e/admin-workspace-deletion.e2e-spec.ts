/**
 * @needs python3
 */
import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { EndedStream } from '#libs/platform/streams';
import { StreamRecorder } from '../../libs/audit/src/typeorm/stream-recorder';
import { runAdmin } from '../support/admin-command';
import type { ApiClient } from '../support/api-client';
import { examplesOf } from '../support/doc-examples';
import { documentOf, expectFault } from '../support/finished-command';
import { demandProgram, searchPath } from '../support/programs.cjs';
import { rowsRead } from '../support/rows-read';
import { RunningCommand } from '../support/running-command';
import { Sealing } from '../support/sealing';
import { type TestApp, startApp } from '../support/start-app';
import { NDJSON } from '../support/stream-reader';
import { someoneWaits } from '../support/waiting-sessions';

const [program] = examplesOf('verify-the-audit.md').filter(({ name }) => name === 'verify');

interface Archived {
  readonly lastSequence: number;
  readonly file: string;
}

describe('admin workspaces delete', () => {
  let app: TestApp;
  let sealing: Sealing;
  let workspace: string;
  let slug: string;
  let client: ApiClient;
  let asset: string;
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
    client = await app.arrange.aClient(workspace, ['all:read', 'inventory:write']);
    asset = (await app.arrange.anAsset(workspace)).id;
    slug = await app.arrange.slugOf(workspace);
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const describeAsset = async (...descriptions: string[]): Promise<void> => {
    for (const description of descriptions) {
      expect((await client.patch(`/v1/inventory/assets/${asset}`, { description })).status).toBe(200);
    }
  };
  const sequencesIn = (file: string): number[] =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { sequence: number }).sequence);
  /** Runs the program of the documentation without a token. */
  const stranger = async (file: string): Promise<string> => {
    const own = join(directory, 'stranger');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'verify.py'), program?.code ?? '');
    const env = { PATH: searchPath(), BASE_URL: app.origin };
    return promisify(execFile)('python3', ['verify.py', file], { cwd: own, env, timeout: 60_000 }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  };
  const tables = async (): Promise<string[]> => {
    const { rows: found } = await app.database.admin.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns JOIN information_schema.tables USING (table_name)
        WHERE column_name = 'workspace_id' AND table_type = 'BASE TABLE' AND tables.table_schema = 'public'`,
    );
    return found.map(({ name }) => name).sort();
  };
  /** The rows of a workspace in each table. */
  const rowsOf = async (id: string): Promise<Record<string, number>> => {
    const counts = { workspace: await count('workspace', 'id', id) };
    for (const table of await tables()) Object.assign(counts, { [table]: await count(table, 'workspace_id', id) });
    return counts;
  };
  const count = async (table: string, column: string, id: string): Promise<number> => {
    const counted = `SELECT count(*) AS n FROM ${table} WHERE ${column} = $1`;
    return Number((await app.database.admin.query<{ n: string }>(counted, [id])).rows[0]?.n);
  };
  const change = (sql: string, id = workspace) => app.arrange.change(id, sql, [id]);
  /** The command need not wait for streams to end. */
  const forgetTokens = () => change('UPDATE application SET issued_at = NULL WHERE workspace_id = $1');
  const words = (...more: string[]): string[] => ['workspaces', 'delete', slug, '--archive', directory, ...more];
  const deleteWorkspace = (...more: string[]) => runAdmin(words(...more), environment);

  /** Rows in every table: owners, owners of each other and of themselves, tags, computers, records and events. */
  const fill = async (id: string, writer: ApiClient): Promise<void> => {
    const [ada, bo] = [await app.arrange.anEmployee(id, 'Ada'), await app.arrange.anEmployee(id, 'Bo')];
    for (const [owned, owner] of [
      [ada, bo],
      [bo, ada],
      [await app.arrange.anEmployee(id, 'Cy'), null],
    ] as const) {
      const values = [id, owned.id, owner?.id ?? owned.id];
      const own = 'UPDATE asset SET owner_id = $3, owner_source = 1 WHERE workspace_id = $1 AND public_id = $2';
      await app.arrange.change(id, own, values);
    }
    await app.arrange.anAsset(id, { type: 'COMPUTER', ownerId: ada.id });
    await app.arrange.aTagKey(id, 'env');
    const tagged = await app.arrange.anAsset(id, { ownerId: bo.id });
    expect((await writer.patch(`/v1/inventory/assets/${tagged.id}`, { tags: [{ key: 'env' }] })).status).toBe(200);
    const run = {
      outcome: 'COMPLETED',
      ended_at: new Date(),
      options: {},
      files: '[]',
      counts: {},
      errors: '[]',
      warnings: '[]',
    };
    for (const [table, more] of [
      ['import_run', { id: randomUUID(), ...run }],
      ['import_freshness', { stale_after_seconds: 60 }],
    ] as const) {
      const row = { workspace_id: id, source: 'hr', ...more };
      const names = Object.keys(row);
      await app.arrange.change(
        id,
        `INSERT INTO ${table} (${names.join(', ')}) SELECT ${names.join(', ')} FROM jsonb_populate_record(NULL::${table}, $1)`,
        [JSON.stringify(row)],
      );
    }
    for (const insert of [
      `INSERT INTO application_key (workspace_id, client_id, kid, algorithms, jwk)
       SELECT $1, client_id, 'k', '{ES256}', '{}' FROM application WHERE workspace_id = $1`,
      `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
       SELECT workspace_id, client_id, 'https://issuer.example', 's' FROM application WHERE workspace_id = $1`,
      `INSERT INTO person (workspace_id, id, email, name, role) VALUES ($1, gen_random_uuid(), 'a@example.com', 'Ada', 'admin')`,
      `INSERT INTO console_session (workspace_id, digest, person_id)
       SELECT workspace_id, sha256(id::text::bytea), id FROM person WHERE workspace_id = $1`,
      `INSERT INTO used_assertion SELECT $1, client_id, '', now() FROM application WHERE workspace_id = $1`,
      `INSERT INTO day_count VALUES ($1, '2026-01-02', '[]', '[]')`,
    ]) {
      await app.arrange.change(id, insert, [id]);
    }
    // Tables that only release 1.0.0 wrote.
    await change(`INSERT INTO audit_seal VALUES ($1, 1, 1, sha256(''), now(), sha256(''))`, id);
    await change(
      `INSERT INTO audit_head (workspace_id, sequence, head, mac) VALUES ($1, 0, sha256(''), sha256(''))`,
      id,
    );
  };

  it('reads few rows for each that it deletes, although the statistics know only one', async () => {
    const { admin } = app.database;
    await admin.query('ANALYZE asset');
    await app.arrange.manyAssets(workspace, 2_500);
    await forgetTokens();
    const before = await rowsRead(admin, 'asset');

    expect((await deleteWorkspace('--yes')).exitCode).toBe(0);

    let reads = 0;
    // The server reports a connection's reads shortly after its end.
    for (const deadline = Date.now() + 30_000; reads < 2_500 && Date.now() < deadline; await delay(50)) {
      reads = (await rowsRead(admin, 'asset')) - before;
    }
    expect(reads).toBeGreaterThanOrEqual(2_500);
    expect(reads).toBeLessThan(100 * 2_500);
  });

  it('does not wait for statistics that somebody else makes', async () => {
    await forgetTokens();
    const other = new Client({ connectionString: app.database.migrationDatabaseUrl });
    await other.connect();
    let deleting;
    try {
      // As CREATE INDEX CONCURRENTLY and a vacuum against wraparound do.
      await other.query('BEGIN; LOCK TABLE asset IN SHARE UPDATE EXCLUSIVE MODE');
      deleting = deleteWorkspace('--yes');
      expect(await Promise.race([deleting, delay(60_000, 'waits', { ref: false })])).toMatchObject({ exitCode: 0 });
    } finally {
      await other.end();
      await deleting;
    }
  });

  it('deletes every row of the workspace and of no other one, and archives its whole audit', async () => {
    const other = await app.arrange.aWorkspace();
    await fill(other, await app.arrange.aClient(other, ['all:read', 'all:write']));
    await fill(workspace, client);
    await describeAsset('one', 'two');
    await sealing.seal();
    await app.arrange.manyAssets(workspace, 2_500);
    await app.arrange.change(
      workspace,
      `UPDATE asset SET owner_source = 1, owner_id = (SELECT public_id FROM asset WHERE name = 'Ada' AND workspace_id = $1)
        WHERE workspace_id = $1 AND name LIKE 'badge 1%'`,
      [workspace],
    );
    const before = await rowsOf(other);
    const [full, id] = [await rowsOf(workspace), workspace];
    expect(Object.entries(full).filter(([, n]) => n === 0)).toEqual([]);
    // Nobody seals it before the command.
    await describeAsset('last');

    const done = documentOf(await deleteWorkspace('--yes', '--json')) as unknown as {
      readonly deleted: Record<string, number>;
      readonly archives: readonly Archived[];
    };

    expect(Object.entries(await rowsOf(id)).filter(([, n]) => n > 0)).toEqual([]);
    expect(await rowsOf(other)).toEqual(before);
    expect(done.deleted).toMatchObject({ asset: full['asset'], tag_key: 1, application: 1 });
    const [{ file, lastSequence }] = done.archives as [Archived];
    expect(done.archives).toHaveLength(1);
    // The updates, and the end of the application.
    expect(sequencesIn(file)).toEqual([1, 2, 3, 4, 5]);
    expect(lastSequence).toBe(5);
    expect((await client.get('/v1/me')).status).toBe(401);
    expect(await stranger(file)).toMatch('5 events fit the new checkpoint, 0 of them also the kept one.\n');
    writeFileSync(file, readFileSync(file, 'utf8').replace('one', 'two'));
    expect(await stranger(file)).toMatch(/were changed/);
    expectFault(await deleteWorkspace('--yes'), 1, /no workspace/);
  });

  it('completes when it is run again after it was killed', async () => {
    await fill(workspace, client);
    await app.arrange.manyAssets(workspace, 2_500);
    await forgetTokens();
    const other = new Client({ connectionString: app.database.migrationDatabaseUrl });
    await other.connect();
    try {
      await other.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
      await other.query('BEGIN');
      await other.query(`SELECT FROM asset WHERE external_id = '2000' AND workspace_id = $1 FOR UPDATE`, [workspace]);
      const killed = new RunningCommand('apps/admin/run.mjs', words('--yes'), environment);
      await Promise.race([someoneWaits(app.database), killed.finished]);
      await killed.signal('SIGKILL');
      expect((await killed.finished).exitCode).toBeNull();
    } finally {
      await other.end();
    }
    const left = await count('asset', 'workspace_id', workspace);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(2_000);
    expect(await count('workspace', 'id', workspace)).toBe(1);

    expect((await deleteWorkspace('--yes')).exitCode).toBe(0);

    expect(Object.entries(await rowsOf(workspace)).filter(([, n]) => n > 0)).toEqual([]);
    expect(readdirSync(directory)).toHaveLength(2);
  });

  it('goes on with the same audit tree when it is run again after a late writer was in the way', async () => {
    await describeAsset('one');
    await forgetTokens();
    const late = new Client({ connectionString: app.database.migrationDatabaseUrl });
    await late.connect();
    try {
      await late.query(`SELECT set_config('app.workspace_id', $1, false)`, [workspace]);
      await late.query(`BEGIN; INSERT INTO tag_key (workspace_id, key) VALUES ('${workspace}', 'late')`);
      const first = deleteWorkspace('--yes');
      await Promise.race([someoneWaits(app.database), first]);
      await late.query('COMMIT');
      expectFault(await first, 1, /Run the command again/);
    } finally {
      await late.end();
    }
    const create = ['tag-keys', 'create', '--workspace', slug, '--key', 'env'];
    expect((await runAdmin(create, environment)).exitCode).toBe(0);

    const { archives } = documentOf(await deleteWorkspace('--yes', '--json')) as unknown as {
      readonly archives: readonly Archived[];
    };

    expect(archives.map(({ file }) => sequencesIn(file))).toEqual([[3]]);
    expect(await count('workspace', 'id', workspace)).toBe(0);
  });

  it('leaves no event of a stream that ends after it', async () => {
    await forgetTokens();
    const recorder = StreamRecorder.prototype as unknown as { record: (ended: EndedStream) => Promise<void> };
    const { record } = recorder;
    const recorded = new Promise((resolve) => {
      jest.spyOn(recorder, 'record').mockImplementationOnce(async function (this: unknown, ended) {
        const deleted = await deleteWorkspace('--yes');
        await record.call(this, ended);
        resolve(deleted);
      });
    });

    expect((await client.get('/v1/inventory/assets', { headers: { Accept: NDJSON } })).status).toBe(200);

    expect(await recorded).toMatchObject({ exitCode: 0 });
    expect(Object.entries(await rowsOf(workspace)).filter(([, n]) => n > 0)).toEqual([]);
  });

  it('keeps a workspace whose audit was altered, or that cannot be archived, and asks for its slug', async () => {
    await describeAsset('one');
    await sealing.seal();
    expectFault(await deleteWorkspace(), 2, /--yes/);
    for (const place of ['missing', '../../dev/null']) {
      const into = ['workspaces', 'delete', slug, '--archive', join(directory, place), '--yes'];
      expectFault(await runAdmin(into, environment), 1, /no directory.*Nothing was changed/);
    }
    await change(`UPDATE audit_event SET client_id = 'ci_x' WHERE workspace_id = $1`);
    await forgetTokens();

    expectFault(await deleteWorkspace('--yes'), 1, /was altered\. Nothing was removed/);

    expect(await rowsOf(workspace)).toMatchObject({ workspace: 1, asset: 1, application: 1 });
  });
});
