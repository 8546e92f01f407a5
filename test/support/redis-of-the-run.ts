/**
 * The one Redis of the run, which test files share.
 *
 * @needs redis
 */

/** Returns its address. Tests must not empty it. */
export function redisOfTheRun(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('No Redis runs; run this through jest, where there is a redis-server.');
  return url;
}
