import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { EmbeddedPostgresFault, OWN_DATABASE_ADVICE } from '../embedded-postgres-fault';
import { type ServiceAccount } from '../accounts/service-account';

export interface ProgramRun {
  readonly program: string;
  readonly programArguments: readonly string[];
  readonly account: ServiceAccount | null;
  readonly input?: string;
}

/** Runs one of Postgres' programs to its end. Rejects with its output when it fails. */
export function runProgram(run: ProgramRun): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = launch(run);
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    // A program that ends early closes its input. Its own message explains why; the broken pipe does not.
    child.stdin.on('error', () => undefined);
    child.stdin.end(run.input ?? '');
    child.on('error', (error) => reject(launchFault(error, run.program, run.account)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else
        reject(
          new Error(
            `${run.program} ended with ${signal ?? code ?? 'no code'}:\n${lastLines(output)}${hintFor(output)}`,
          ),
        );
    });
  });
}

function launch({ program, programArguments, account }: ProgramRun): ChildProcessWithoutNullStreams {
  try {
    return spawn(program, programArguments, { ...launchOptions(account), stdio: 'pipe' });
  } catch (error) {
    // Node throws some launch errors, such as a failed change of user, and emits others as events.
    throw launchFault(error as Error, program, account);
  }
}

/**
 * Excludes PG… variables of the user's shell (PGPORT, PGDATA, PGOPTIONS). Uses a directory that every account can
 * enter. Sets English messages, because some of them are parsed.
 */
export function launchOptions(account: ServiceAccount | null): {
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
} {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^(PG|LC_|LANG|TZ$)/.test(name)) env[name] = value;
  }
  return { cwd: '/', env, ...(account && { uid: account.uid, gid: account.gid }) };
}

/** Explains why a program could not be launched. */
export function launchFault(error: Error, program: string, account: ServiceAccount | null): EmbeddedPostgresFault {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' && existsSync(program)) {
    // The kernel reports a missing interpreter of a glibc program as a missing program.
    return new EmbeddedPostgresFault(
      `The Postgres binaries need a Linux with glibc; this one (Alpine?) has none. Use another image, ${OWN_DATABASE_ADVICE}.`,
      { cause: error },
    );
  }
  if (account !== null && (code === 'EPERM' || code === 'EINVAL')) {
    return new EmbeddedPostgresFault(
      `Postgres does not run as root, and this system does not let root start it as "${account.name}" (${code}). ` +
        `Start as an ordinary user, ${OWN_DATABASE_ADVICE}.`,
      { cause: error },
    );
  }
  const advice = `Check the permissions of that file and of the directories above it, ${OWN_DATABASE_ADVICE}.`;
  return new EmbeddedPostgresFault(`${program} cannot be started (${code ?? error.message}). ${advice}`, {
    cause: error,
  });
}

export function lastLines(text: string, count = 15): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** Returns a remedy for messages that name none. */
export function hintFor(output: string): string {
  if (/error while loading shared libraries|GLIBC_|Error relocating|symbol not found/.test(output)) {
    return `\nA library is missing: run \`npm rebuild\` so that the binaries' links are made, ${OWN_DATABASE_ADVICE}.`;
  }
  if (output.includes('could not look up effective user ID')) {
    return `\nThis user has no line in /etc/passwd, which initdb needs: add one, start as another user, ${OWN_DATABASE_ADVICE}.`;
  }
  return '';
}
