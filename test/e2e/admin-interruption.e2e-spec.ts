import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findPostmaster } from '../../libs/local-postgres/src/cluster/postmaster-file';
import { clear, makeDirectory } from '../support/embedded-postgres-directory';
import { makeFifo } from '../support/fifo';
import { RunningCommand } from '../support/running-command';
import { AWAITED_LOCKS, type TestDatabase, createTestDatabase } from '../support/test-database';

const ROOT = join(__dirname, '../..');
const PROGRAM = 'apps/admin/run.mjs';

describe('A command that reads from a pipe', () => {
  let localDir: string;
  beforeAll(async () => {
    localDir = makeDirectory();
    const words = ['workspaces', 'create', 'acme', '--name', 'Acme'];
    const made = await new RunningCommand(PROGRAM, words, { LOCAL_DIR: localDir }).finished;
    expect(made.exitCode).toBe(0);
  });
  afterAll(() => clear(localDir));

  it.each([
    ['SIGINT', 130, 'stdin', (): string => '-'],
    ['SIGTERM', 143, 'stdin', (): string => '-'],
    ['SIGTERM', 143, 'a pipe that nobody writes', (): string => makeFifo(join(localDir, 'pipe'))],
  ] as const)('ends on %s with %i and stops the embedded Postgres: %s', async (signal, exitCode, _, input) => {
    const badLines = join(localDir, 'bad-lines');
    const words = ['import', '--workspace', 'acme', '--source', 'hr', '--errors', badLines, input()];
    const child = spawn(process.execPath, [join(ROOT, PROGRAM), ...words], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], LOCAL_DIR: localDir },
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: 100_000,
      killSignal: 'SIGKILL',
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.stdin.on('error', () => undefined);
    child.stdin.write('{"categoryKey":"CUSTOM","externalId":"c-1","name":"Printer"}\n');
    const ended = once(child, 'close');
    while (findPostmaster(join(localDir, 'postgres')) === null && child.exitCode === null) await delay(20);
    await delay(1_500);
    child.kill(signal);
    expect(await ended).toEqual([exitCode, null]);
    expect(errors).toBe('error: Interrupted.\n');
    expect(findPostmaster(join(localDir, 'postgres'))).toBeNull();
    expect(existsSync(badLines)).toBe(false);
  });
});

describe('status --deep', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => RunningCommand.killAll());
  afterAll(() => database.drop());

  it('is given up some seconds after SIGINT while it waits for a lock behind its count', async () => {
    await database.admin.query('BEGIN');
    await database.admin.query('LOCK TABLE application');
    const running = new RunningCommand(PROGRAM, ['status', '--deep'], {
      DATABASE_URL: database.databaseUrl,
      MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
      LOCAL_DIR: process.env['TEST_LOCAL_DIR'] ?? '',
    });
    while ((await database.admin.query(`SELECT FROM ${AWAITED_LOCKS}`)).rowCount === 0) await delay(20);

    await running.signal('SIGINT');
    const finished = await Promise.race([running.finished, delay(30_000, null, { ref: false })]);
    await database.admin.query('ROLLBACK');

    expect(finished).toMatchObject({ exitCode: 130, stderr: 'error: Interrupted.\n' });
  });
});
