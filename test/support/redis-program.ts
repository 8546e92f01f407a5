import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NOT_FOUND =
  'The tests need a Redis and found none. Install redis-server, or start Docker, or set REDIS_URL to a Redis with an empty database.';

const MINUTE = 60_000;

export const DOCKER_IMAGE = 'redis:7';

/** What runs a Redis on this machine. */
export type RedisProgram = { readonly kind: 'server'; readonly path: string } | { readonly kind: 'docker' };

/**
 * `redis-server` of this machine, else Docker, else on Debian as root what apt brings, which is said on stderr. Throws
 * with what to do when there is no way.
 */
export function findRedisProgram(say: (line: string) => void): RedisProgram {
  const installed = findServer();
  if (installed !== null) return { kind: 'server', path: installed };
  if (dockerAnswers()) return { kind: 'docker' };
  if (!aptMayInstall()) throw new Error(NOT_FOUND);
  installByApt(say);
  const path = findServer();
  if (path === null) throw new Error(NOT_FOUND);
  return { kind: 'server', path };
}

/** Debian has the server itself in redis-tools, under this name; a Redis is what it is called as. */
function findServer(): string | null {
  return onPath('redis-server') ?? onPath('redis-check-rdb');
}

function dockerAnswers(): boolean {
  return onPath('docker') !== null && spawnSync('docker', ['info'], { timeout: 10_000 }).status === 0;
}

function aptMayInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && onPath('apt-get') !== null;
}

/** Of Debian's two packages the one without a system service: nothing is started, now or at the next boot. */
function installByApt(say: (line: string) => void): void {
  say('No Redis on this machine and no Docker: installing Debian’s redis-tools by apt-get, for the tests.');
  aptGet('update');
  aptGet('install', '--yes', '--no-install-recommends', 'redis-tools');
}

function aptGet(...words: readonly string[]): void {
  const { status, error, stderr } = spawnSync('apt-get', ['-qq', ...words], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 3 * MINUTE,
    maxBuffer: 16 * 1024 * 1024,
  });
  // An update may fail for one source of many; whether the package is there is for the installation to say.
  if (status !== 0 && words[0] !== 'update') {
    throw new Error(`apt-get ${words.join(' ')} failed: ${error?.message ?? stderr}\n${NOT_FOUND}`);
  }
}

function onPath(program: string): string | null {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, program));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
