import { spawnSync } from 'node:child_process';
import { aptMayInstall, installDebianPackage, onPath } from './debian-package';

const NOT_FOUND =
  'The tests need a Redis and found none. Install redis-server, or start Docker, or set REDIS_URL to a Redis with an empty database.';
const NO_SERVER_FOUND =
  'These tests start Redis servers of their own, several that belong together, for which neither REDIS_URL nor Docker does. Install redis-server.';

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
  return { kind: 'server', path: serverByApt(say, NOT_FOUND) };
}

/**
 * `redis-server` of this machine, else on Debian as root what apt brings, which is said on stderr. Throws with what to do
 * when there is no way.
 */
export function findRedisServer(say: (line: string) => void): string {
  return findServer() ?? serverByApt(say, NO_SERVER_FOUND);
}

function serverByApt(say: (line: string) => void, otherwise: string): string {
  if (!aptMayInstall()) throw new Error(otherwise);
  say('No redis-server on this machine: installing Debian’s redis-tools by apt-get, for the tests.');
  // Of Debian's two packages the one without a system service: nothing is started, now or at the next boot.
  installDebianPackage('redis-tools', otherwise);
  const path = findServer();
  if (path === null) throw new Error(otherwise);
  return path;
}

/** Debian has the server itself in redis-tools, under this name; a Redis is what it is called as. */
function findServer(): string | null {
  return onPath('redis-server') ?? onPath('redis-check-rdb');
}

function dockerAnswers(): boolean {
  return onPath('docker') !== null && spawnSync('docker', ['info'], { timeout: 10_000 }).status === 0;
}
