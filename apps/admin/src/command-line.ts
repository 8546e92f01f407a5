import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { applicationsCommand } from './commands/applications';
import { assetsCommand } from './commands/assets';
import { auditCommand } from './commands/audit';
import { changesCommand } from './commands/changes';
import { historyCommand } from './commands/history';
import { consoleCommand } from './commands/console';
import { demoCommand } from './commands/demo';
import { idempotencyCommand } from './commands/idempotency';
import { importCommand } from './commands/import';
import { importsCommand } from './commands/imports';
import { keysCommand } from './commands/keys';
import { mapsCommand } from './commands/maps';
import { migrateCommand } from './commands/migrate';
import { peopleCommand } from './commands/people';
import { sourcesCommand } from './commands/sources';
import { statusCommand } from './commands/status';
import { tagKeysCommand } from './commands/tag-keys';
import { workspacesCommand } from './commands/workspaces';
import { explainError } from './explain-error';
import { visibleText } from './visible-text';

/**
 * The operators' command line. Commands load the libraries only when they run, so help and usage errors appear at once.
 */
function commandLine(): Command {
  const program = new Command('admin')
    .version(version(), '-V, --version', 'show the version')
    .description('Operators’ command line. Exit codes: 0 done, 1 failed, 2 wrong usage.')
    .addCommand(migrateCommand())
    .addCommand(statusCommand())
    .addCommand(workspacesCommand())
    .addCommand(applicationsCommand())
    .addCommand(peopleCommand())
    .addCommand(consoleCommand())
    .addCommand(tagKeysCommand())
    .addCommand(importCommand())
    .addCommand(importsCommand())
    .addCommand(sourcesCommand())
    .addCommand(mapsCommand())
    .addCommand(demoCommand())
    .addCommand(assetsCommand())
    .addCommand(changesCommand())
    .addCommand(historyCommand())
    .addCommand(keysCommand())
    .addCommand(auditCommand())
    .addCommand(idempotencyCommand());
  setExitAndHelp(program);
  return program;
}

function version(): string {
  const text = readFileSync(require.resolve('#package'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * Commander's settings are not inherited by commands built earlier, so each command gets them. Commands throw; only
 * main ends the process.
 */
function setExitAndHelp(command: Command): void {
  command.exitOverride().helpOption('-h, --help', 'show this help');
  command.commands.forEach(setExitAndHelp);
}

/** Runs a command and returns its exit code. Does not end the process. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  try {
    await commandLine().parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed its message. Requested help is a success, all else is wrong usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { exitCode, line } = await explainError(error);
    process.stderr.write(`error: ${visibleText(line)}\n`);
    if (['debug', 'trace'].includes(process.env['LOG_LEVEL'] ?? '') && error instanceof Error) {
      process.stderr.write(`${error.stack ?? ''}\n`);
    }
    return exitCode;
  }
}
