import { SERVICE_VERSION } from '#libs/platform/config';
import { runAdmin } from '../support/admin-command';
import { expectFault } from '../support/finished-command';
import { RunningCommand } from '../support/running-command';

/** The command line is checked before any connection to a database. */
const NOWHERE = {
  DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/none',
  MIGRATION_DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/none',
};

/** All other commands write, and take the name of who runs them. */
const READERS = /(list|show|verify)$/;

describe('admin', () => {
  const run = (...words: string[]) => runAdmin(words, NOWHERE);
  afterAll(() => RunningCommand.killAll());

  const commands = [
    ...[
      'migrate',
      'status',
      'workspaces create',
      'workspaces list',
      'workspaces delete',
      'import',
      'demo load',
      'console link',
      'idempotency purge',
    ],
    ...['init', 'list', 'rotate signing', 'rotate cursor', 'remove'].map((verb) => `keys ${verb}`),
    ...['audit list', 'audit verify', 'audit archive', 'assets purge', 'changes restart'],
    ...['create', 'list', 'show', 'enable', 'disable'].map((verb) => `applications ${verb}`),
    ...['rotate-secret', 'end-secret', 'delete', 'set-scopes', 'set-limits', 'clear-limits'].map(
      (verb) => `applications ${verb}`,
    ),
    ...['create', 'list', 'delete'].map((verb) => `tag-keys ${verb}`),
  ];

  it.each(commands)('explains `%s` on --help, with --json and --yes', async (command) => {
    const { exitCode, stdout, stderr } = await run(...command.split(' '), '--help');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: admin ${command}`);
    for (const option of ['--json', '--yes', '--help']) expect(stdout).toContain(option);
    expect(stdout.includes('--as <name>')).toBe(!READERS.test(command));
  });

  it.each(['--version', '-V'])('prints the version of the service on %s', async (option) => {
    const { exitCode, stdout, stderr } = await new RunningCommand('apps/admin/run.mjs', [option], NOWHERE).finished;
    expect([exitCode, stdout, stderr]).toEqual([0, `${SERVICE_VERSION}\n`, '']);
  });

  it.each([
    ['an unknown command', 'nonsense', /unknown command/],
    ['an unknown option', 'workspaces list --nonsense', /unknown option/],
    ['a missing option', 'workspaces create beta', /--name <name>' not specified/],
    ['a missing argument', 'applications show', /missing required argument/],
    ['an argument too many', 'status now', /too many arguments/],
    ['a malformed slug', 'workspaces create Beta --name Beta', /lower-case letters/],
    ['an empty name', 'workspaces create beta --name=', /1 to 200 characters/],
    ['an unknown scope', 'applications create --workspace acme --name X --scope all:everything', /Scopes are all:read/],
    ['no scope', 'applications create --workspace acme --name X', /--scope <scope>' not specified/],
    ['an unknown size', 'demo load --size XXL', /Allowed choices are S, M, L, XL/],
    [
      'a limit of hiding without hiding',
      'import --workspace acme --source hr x --hide-at-most 5',
      /needs --missing hide/,
    ],
    ['an odd limit', 'import --workspace acme --source hr x --missing hide --hide-at-most 101%', /0% to 100%/],
    ['an unknown choice', 'import --workspace acme --source hr x --missing drop', /Allowed choices are keep, hide/],
    ['no file', 'import --workspace acme --source hr', /missing required argument/],
  ])('exits 2 for %s', async (_what, words, line) => {
    expectFault(await run(...words.split(' ')), 2, line);
  });

  it('prints its help when run without a command', async () => {
    const finished = await run();
    expect([finished.exitCode, finished.stdout]).toEqual([2, '']);
    expect(finished.stderr).toContain('Usage: admin');
  });
});
