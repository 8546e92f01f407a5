import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const MINUTE = 60_000;

/** On Debian and its kin as root. */
export function aptMayInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && onPath('apt-get') !== null;
}

/** Without what is merely recommended. Throws what apt said, and what to do instead. */
export function installDebianPackage(name: string, otherwise: string): void {
  // An update may fail for one source of many; whether the package is there is for the installation to say.
  aptGet('update');
  const { status, error, stderr } = aptGet('install', '--yes', '--no-install-recommends', name);
  if (status !== 0) throw new Error(`apt-get install ${name} failed: ${error?.message ?? stderr}\n${otherwise}`);
}

/** One at a time, since test files that run side by side may all find nothing; the second then has nothing to do. */
function aptGet(...words: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync('flock', ['/var/lib/apt', 'apt-get', '-qq', ...words], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 3 * MINUTE,
    maxBuffer: 16 * 1024 * 1024,
  });
}

export function onPath(program: string): string | null {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, program));
  return paths.find(isExecutable) ?? null;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
