import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { runAdmin } from '../support/admin-command';
import { pageText } from '../support/guide';
import { type FinishedCommand } from '../support/running-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

describe('admin status', () => {
  let database: TestDatabase;
  let directory: string;
  let environment: Record<string, string>;
  const admin = (...words: string[]): Promise<FinishedCommand> => runAdmin(words, environment);

  /** Expects exactly one JSON document, and nothing on stderr. */
  const document = async (...words: string[]): Promise<Record<string, unknown>> => {
    const finished = await admin(...words, '--json');
    expect([finished.stderr, finished.exitCode]).toEqual(['', 0]);
    return JSON.parse(finished.stdout) as Record<string, unknown>;
  };

  /** The triggers need it. */
  const enter = (slug: string) =>
    database.admin.query(`SELECT set_config('app.workspace_id', id::text, false) FROM workspace WHERE slug = $1`, [
      slug,
    ]);

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    environment = {
      DATABASE_URL: database.databaseUrl,
      MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
      LOCAL_DIR: process.env['TEST_LOCAL_DIR'] ?? '',
    };
  });
  afterAll(async () => {
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('prints the rows that docs/operators.md shows', async () => {
    const rowsOf = (text: string): string[] =>
      // The number of migrations, too, which is the same for everybody.
      [...text.matchAll(/^│ (migrations applied +│ \d+|[a-zA-Z _]+?) +│/gm)].map(([, row]) => row as string);
    const shown = /admin -- status\n```\n\n```\n([^`]*)```/.exec(pageText('operators.md')) ?? [];

    expect(rowsOf((await admin('status')).stdout)).toEqual(rowsOf(shown[1] as string));
  });

  it('reports and repairs wrong counters, and reports none on the next run', async () => {
    const printers = join(directory, 'printers.ndjson');
    const line = (name: string): string => JSON.stringify({ categoryKey: 'CUSTOM', externalId: name, name });
    writeFileSync(printers, ['a', 'b', 'c'].map(line).join('\n'));
    for (const slug of ['acme', 'globex']) {
      await document('workspaces', 'create', slug, '--name', slug);
      await document('import', '--workspace', slug, '--source', 'site', printers);
    }
    await database.admin.query(
      `UPDATE facet_count SET n = 40 FROM workspace WHERE workspace.id = workspace_id AND slug = 'globex'`,
    );

    expect(await document('status')).not.toHaveProperty('counters');
    const wrong = [{ workspace: 'globex', subKey: 'CUSTOM', facet: 0, counted: 40, actual: 3 }];
    expect(await document('status', '--deep')).toMatchObject({
      ok: true,
      workspaces: 2,
      assets: 6,
      counters: { workspaces: 2, assets: 6, wrong, repaired: 1 },
    });
    expect(await document('status', '--deep')).toMatchObject({
      assets: 6,
      counters: { workspaces: 2, assets: 6, wrong: [], repaired: 0 },
    });
    expect((await admin('status', '--deep')).stdout).toContain(
      'Full count: 6 assets, 2 workspaces. Every counter is right.',
    );
    await database.admin.query('UPDATE facet_count SET n = 2');
    const { stdout, exitCode } = await admin('status', '--deep');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Repaired 2 wrong counters:');
    expect(stdout).toMatch(/│ acme +│ CUSTOM +│ 0 +│ 2 +│ 3 +│/);
  });

  it('reports and repairs wrong counts of tag keys and sources', async () => {
    const file = join(directory, 'tagged.ndjson');
    const badge = { categoryKey: 'CUSTOM', externalId: 'badge', name: 'Badge', tags: [{ key: 'env' }] };
    writeFileSync(file, JSON.stringify(badge));
    await document('workspaces', 'create', 'initech', '--name', 'Initech');
    await document('tag-keys', 'create', '--workspace', 'initech', '--key', 'env');
    await document('import', '--workspace', 'initech', '--source', 'hr', file);
    const ofInitech = `FROM workspace WHERE workspace.id = workspace_id AND slug = 'initech'`;
    await database.admin.query(`UPDATE tag_count SET n = n + 4 ${ofInitech}`);
    await database.admin.query(`UPDATE source_count SET n = 0 ${ofInitech} AND sub_key = 13`);

    const wrongValues = [
      { workspace: 'initech', filter: 'tagKey', value: 'env CUSTOM 0', counted: 5, actual: 1 },
      { workspace: 'initech', filter: 'source', value: 'hr CUSTOM 0', counted: 0, actual: 1 },
    ];
    expect(await document('status', '--deep')).toMatchObject({ counters: { wrong: [], wrongValues, repaired: 2 } });
    expect(await document('status', '--deep')).toMatchObject({ counters: { wrongValues: [], repaired: 0 } });
  });

  it('reports and repairs computers that filters find wrongly', async () => {
    const file = join(directory, 'computers.ndjson');
    const laptop = (name: string) => ({ categoryKey: 'COMPUTER', externalId: name, name, managed: true });
    writeFileSync(file, ['c-1', 'c-2', 'c-3'].map((name) => JSON.stringify(laptop(name))).join('\n'));
    await document('workspaces', 'create', 'hooli', '--name', 'Hooli');
    await document('import', '--workspace', 'hooli', '--source', 'mdm', file);
    await enter('hooli');
    await database.admin.query(`UPDATE asset SET posture = NULL WHERE external_id = 'c-1'`);
    await database.admin.query(`UPDATE asset SET posture = 7 WHERE external_id = 'c-2'`);

    expect(await document('status', '--deep')).toMatchObject({ counters: { wrongComputers: 2, repaired: 2 } });
    expect(await document('status', '--deep')).toMatchObject({ counters: { wrongComputers: 0, repaired: 0 } });
    await database.admin.query(`UPDATE asset SET posture = 7 WHERE external_id = 'c-3'`);
    expect((await admin('status', '--deep')).stdout).toContain('Filters found 1 computers wrongly.');
  });

  it('reports a runtime role that is a member of the owner, which a start in production refuses', async () => {
    const owner = new URL(database.migrationDatabaseUrl).username;
    const member = `member_${randomBytes(6).toString('hex')}`;
    await database.admin.query(`CREATE ROLE ${member} LOGIN NOINHERIT PASSWORD 'member' IN ROLE ${owner}`);
    const url = new URL(database.databaseUrl);
    [url.username, url.password] = [member, 'member'];
    const { exitCode, stdout } = await runAdmin(['status', '--json'], { ...environment, DATABASE_URL: url.href });
    await database.admin.query(`DROP ROLE ${member}`);

    expect(exitCode).toBe(1);
    const why = `The role "${member}" of DATABASE_URL is a superuser, has BYPASSRLS, owns the tables or is a member of their owner.`;
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problems: [why] });
  });

  it('reports that the system sorts text otherwise than the indexes, until docs/operations.md is followed', async () => {
    const { rows } = await database.admin.query<{ name: string }>('SELECT current_database() AS name');
    const { name } = rows[0] as { name: string };
    await database.admin.query(`UPDATE pg_database SET datcollversion = 'old' WHERE datname = $1`, [name]);
    await database.admin.query(`UPDATE pg_collation SET collversion = 'old' WHERE collname = 'case_blind'`);

    const { exitCode, stderr } = await admin('status');
    expect([exitCode, stderr]).toEqual([
      1,
      'error: The system sorts text otherwise than the indexes do (case_blind, default); see docs/operations.md#order-of-text\n',
    ]);

    const [, steps = ''] = /^```sql\n(REINDEX [^`]+)```$/m.exec(pageText('operations.md')) ?? [];
    const owner = new Client({ connectionString: database.migrationDatabaseUrl });
    await owner.connect();
    for (const step of steps.replaceAll('compliance', name).trim().split('\n')) await owner.query(step);
    await owner.end();
    expect((await admin('status')).stderr).toBe('');
  });

  it('counts nothing while migrations are pending', async () => {
    await database.admin.query('DELETE FROM migration WHERE timestamp = (SELECT max(timestamp) FROM migration)');
    const finished = await admin('status', '--deep', '--json');
    expect([finished.exitCode, finished.stderr]).toEqual([1, 'error: 1 migrations are pending; run: admin migrate\n']);
    expect(JSON.parse(finished.stdout)).toMatchObject({ ok: false, assets: null, counters: null });
  });
});
