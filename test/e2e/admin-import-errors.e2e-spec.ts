import { linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentOf, expectFault } from '../support/finished-command';
import { RunningCommand } from '../support/running-command';
import { type TestDatabase, createTestDatabase } from '../support/test-database';

const ADA = `${JSON.stringify({ categoryKey: 'EMPLOYEE', externalId: 'hr-1', name: 'Ada Okafor' })}\n`;
const EARLIER = '{"line":7,"reason":"name is required."}\n';

describe('The file of bad lines that an import is told to write', () => {
  let database: TestDatabase;
  let directory: string;
  const run = (...words: string[]) =>
    new RunningCommand('apps/admin/run.mjs', words, {
      DATABASE_URL: database.databaseUrl,
      MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
      LOCAL_DIR: join(directory, 'local'),
    }).finished;
  const importInto = (workspace: string, ...words: string[]) =>
    run('import', '--workspace', workspace, '--source', 'hr', '--json', ...words);
  const file = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    directory = mkdtempSync(join(tmpdir(), 'compliance-api-test-'));
    documentOf(await run('workspaces', 'create', 'acme', '--name', 'Acme', '--json'));
  });
  afterAll(async () => {
    await RunningCommand.killAll();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is never one of the input, by whatever name: nothing is written and nothing hidden', async () => {
    const input = file('input.ndjson', ADA);
    expect(documentOf(await importInto('acme', input))).toMatchObject({ created: 1 });
    const [link, alias] = [join(directory, 'link.ndjson'), join(directory, 'alias.ndjson')];
    symlinkSync(input, link);
    linkSync(input, alias);
    for (const errors of [input, link, alias]) {
      const finished = await importInto(
        'acme',
        file('other.ndjson', ADA),
        input,
        '--missing',
        'hide',
        '--errors',
        errors,
      );
      expectFault(finished, 2, /--errors names .*input\.ndjson, which is one of the files to import\./);
      expect(readFileSync(input, 'utf8')).toBe(ADA);
    }
    expect(documentOf(await importInto('acme', input))).toMatchObject({ unchanged: 1 });
  });

  it('keeps what an earlier import wrote until there is an import to tell of', async () => {
    const errors = file('errors.ndjson', EARLIER);
    const input = file('good.ndjson', ADA);
    expectFault(await importInto('none', input, '--errors', errors), 1, /no workspace "none"/);
    expectFault(await importInto('acme', join(directory, 'gone.ndjson'), '--errors', errors), 1, /does not exist/);
    expect(readFileSync(errors, 'utf8')).toBe(EARLIER);
    documentOf(await importInto('acme', input, '--errors', errors));
    expect(readFileSync(errors, 'utf8')).toBe('');
  });

  it('holds the lines of the last import alone', async () => {
    const errors = file('old.ndjson', EARLIER.repeat(9));
    const finished = await importInto('acme', file('bad.ndjson', `nonsense\n${ADA}`), '--errors', errors);
    expect(finished.exitCode).toBe(1);
    expect(readFileSync(errors, 'utf8')).toBe('{"line":1,"reason":"The line is not JSON."}\n');
  });
});
