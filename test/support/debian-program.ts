import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const MINUTE = 60_000;

/**
 * Makes sure that this machine has a program: on the PATH, else on Debian as root from its package of this name, which is
 * said on stderr. Throws with what to do when there is no way: a test that needs it is never left out.
 */
export function demandProgram(program: string, debianPackage: string): void {
  if (isOnPath(program)) return;
  const missing = `The tests need ${program} and found none. Install it (Debian: apt-get install ${debianPackage}).`;
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version') && isOnPath('apt-get');
  if (!mayInstall) throw new Error(missing);
  process.stderr.write(
    `No ${program} on this machine: installing Debian’s ${debianPackage} by apt-get, for the tests.\n`,
  );
  // An update may fail for one source of many; whether the package is there is for the installation to say.
  aptGet('update');
  const said = aptGet('install', '--yes', '--no-install-recommends', debianPackage);
  if (!isOnPath(program)) throw new Error(`${missing}\n${said}`);
}

function aptGet(...words: readonly string[]): string {
  const { error, stderr } = spawnSync('apt-get', ['-qq', ...words], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 3 * MINUTE,
    maxBuffer: 16 * 1024 * 1024,
  });
  return error?.message ?? stderr;
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
