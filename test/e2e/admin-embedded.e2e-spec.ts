import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clear, makeDirectory } from '../support/embedded-postgres-directory';
import { type Row, documentOf, expectFault } from '../support/finished-command';
import { RunningCommand } from '../support/running-command';

describe('The command line without DATABASE_URL', () => {
  const admin = (environment: Record<string, string>, ...words: string[]) =>
    new RunningCommand('apps/admin/run.mjs', words, environment).finished;
  let localDir: string;
  beforeAll(() => (localDir = makeDirectory()));
  afterAll(async () => {
    await RunningCommand.killAll();
    await clear(localDir);
  });
  const serverRuns = () => existsSync(join(localDir, 'postgres', 'postmaster.pid'));

  it('starts the embedded Postgres for one command and keeps its data', async () => {
    const embedded = { LOCAL_DIR: localDir };
    documentOf(await admin(embedded, 'workspaces', 'create', 'kept', '--name', 'Kept', '--json'));
    expect(serverRuns()).toBe(false);
    const { items } = documentOf(await admin(embedded, 'workspaces', 'list', '--json')) as { items: Row[] };
    expect(items.map(({ slug }) => slug)).toEqual(['kept']);
    expect(serverRuns()).toBe(false);
    expectFault(
      await admin(
        { ...embedded, MIGRATION_DATABASE_URL: process.env['TEST_MIGRATION_DATABASE_URL'] as string },
        'status',
      ),
      2,
      /set both or none/,
    );
  });

  it('ends a long command on Ctrl-C, stops Postgres, and completes when run again', async () => {
    const loading = new RunningCommand('apps/admin/run.mjs', ['demo', 'load', '--size', 'L'], {
      LOCAL_DIR: localDir,
    });
    for (const deadline = Date.now() + 60_000; !serverRuns() && Date.now() < deadline;) await delay(20);
    await delay(1_000);
    await loading.signal('SIGINT');
    const finished = await loading.finished;
    expectFault(finished, 130, /Interrupted/);
    expect(serverRuns()).toBe(false);
    documentOf(await admin({ LOCAL_DIR: localDir }, 'demo', 'load', '--json'));
  });
});
