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

/** Runs one of Postgres' programs to its end; rejects with what it printed when it fails. */
export function runProgram(run: ProgramRun): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = launch(run);
    let output = '';
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(-20_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    // A program that ends early closes its input; its own message says why, not our broken pipe.
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
    // Some refusals of the system (of the change of user, above all) are thrown, others become an event.
    throw launchFault(error as Error, program, account);
  }
}

/**
 * PG… variables of the user's shell (PGPORT, PGDATA, PGOPTIONS) must not reach our server. The directory is one every
 * account can enter, and messages are English because we read some of them.
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

/** Why a program could not be launched at all. */
export function launchFault(error: Error, program: string, account: ServiceAccount | null): EmbeddedPostgresFault {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' && existsSync(program)) {
    // The kernel reports the missing interpreter of a glibc program as if the program were missing.
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

/** What to do about complaints that name no remedy of their own. */
export function hintFor(output: string): string {
  if (/error while loading shared libraries|GLIBC_|Error relocating|symbol not found/.test(output)) {
    return `\nA library is missing: run \`npm rebuild\` so that the binaries' links are made, ${OWN_DATABASE_ADVICE}.`;
  }
  if (output.includes('could not look up effective user ID')) {
    return `\nThis user has no line in /etc/passwd, which initdb needs: add one, start as another user, ${OWN_DATABASE_ADVICE}.`;
  }
  return '';
}
