/** @needs redis */
import { demandProgram, dockerAnswers, findProgram, installPrograms } from './programs.cjs';

export const DOCKER_IMAGE = 'redis:7';

/** What runs a Redis on this machine. */
export type RedisProgram = { readonly kind: 'server'; readonly path: string } | { readonly kind: 'docker' };

/**
 * Finds `redis-server`, else Docker, else installs Debian's.
 *
 * @throws with what to install when there is no way.
 */
export function findRedisProgram(): RedisProgram {
  if (findProgram('redis-server') === null) {
    if (dockerAnswers()) return { kind: 'docker' };
    installPrograms(['redis-server']);
  }
  return { kind: 'server', path: demandProgram('redis-server') };
}
