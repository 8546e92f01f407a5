import { Writable } from 'node:stream';
import { runCommandLine } from '../../apps/admin/src/command-line';
import { type FinishedCommand } from './running-command';
import type { TestDatabase } from './test-database';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs an operator's command in this process, with the given environment only and no input. Commands run one after the
 * other. Use {@link RunningCommand} where the process itself matters.
 */
export function runAdmin(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<FinishedCommand> {
  const finished = previous.then(() => runHere(words, environment));
  previous = finished.catch(() => undefined);
  return finished;
}

/** Runs a command on this database. */
export const runAdminOn = (
  database: TestDatabase,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FinishedCommand> =>
  runAdmin(words, {
    DATABASE_URL: database.databaseUrl,
    MIGRATION_DATABASE_URL: database.migrationDatabaseUrl,
    LOCAL_DIR: process.env['TEST_LOCAL_DIR'] ?? '',
    ...environment,
  });

async function runHere(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<FinishedCommand> {
  const { env } = process;
  const streams = Object.getOwnPropertyDescriptors(process);
  const handlers = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)));
  const [stdout, stderr] = [new Output(), new Output()];
  process.env = { TMPDIR: env['TMPDIR'], ...environment };
  Object.defineProperty(process, 'stdout', { value: stdout, configurable: true });
  Object.defineProperty(process, 'stderr', { value: stderr, configurable: true });
  try {
    return { exitCode: await runCommandLine(words), stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.env = env;
    Object.defineProperty(process, 'stdout', streams.stdout);
    Object.defineProperty(process, 'stderr', streams.stderr);
    // A command handles signals until its process ends.
    for (const signal of SIGNALS) {
      for (const handler of process.listeners(signal)) if (!handlers.has(handler)) process.off(signal, handler);
    }
  }
}

class Output extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
