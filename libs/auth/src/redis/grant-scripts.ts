import { CHARGE_LUA, NOW_LUA } from '#libs/platform/throttling';
import { RedisScript } from '#libs/platform/redis';

/**
 * The hash KEYS[1] holds one client's cached grant and buckets. Fields of the grant: `grant` (JSON), `generation`,
 * `disabled`, `limits` (JSON: class → microseconds between tokens, tokens), `until` (microseconds) and `reservation`.
 * `newestUntil` (microseconds) is the time until which a client that wrote reads from the primary.
 */

/**
 * Checks a token's generation against the cached grant, and charges the request if it is current.
 * ARGV: the time or '', the lease in microseconds, the token's generation, the class and its field, microseconds
 * between tokens, tokens of a full bucket, a new reservation, and the microseconds for which a writing client reads
 * from the primary.
 * Returns `superseded`; `current` with freshness, grant and perhaps the charge; or `missing` with freshness,
 * reservation and the current time.
 */
export const CHECK_GRANT_AND_CHARGE = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  local cached = redis.call('HMGET', KEYS[1], 'grant', 'generation', 'until', 'disabled', 'limits', 'newestUntil')
  local freshness, remembered = 'newest', tonumber(ARGV[9])
  if ARGV[4] == 'write' then
    redis.call('HSET', KEYS[1], 'newestUntil', string.format('%.0f', now + remembered))
    keepFor(remembered / 1000)
  elseif now > (tonumber(cached[6]) or 0) then
    freshness = 'recent'
  end
  local lease = tonumber(ARGV[2])
  local left = (tonumber(cached[3]) or 0) - now
  -- A grant with more time left than a lease was stored before the clock was set back.
  if cached[1] and left > 0 and left <= lease then
    local generation, known = tonumber(ARGV[3]), tonumber(cached[2])
    if generation < known then return {'superseded'} end
    if generation == known then
      if cached[4] == '1' then return {'current', freshness, cached[1]} end
      local interval, burst = tonumber(ARGV[6]), tonumber(ARGV[7])
      local own = cached[5] ~= '' and cjson.decode(cached[5])[ARGV[4]]
      if own then interval, burst = own[1], own[2] end
      return {'current', freshness, cached[1], charge(ARGV[5], now, interval, burst)}
    end
  end
  -- Concurrent misses share one reservation. If each replaced it, none could store its grant.
  local reservation = redis.call('HGET', KEYS[1], 'reservation')
  if not reservation then
    reservation = ARGV[8]
    redis.call('HSET', KEYS[1], 'reservation', reservation)
  end
  keepFor(10000)
  return {'missing', freshness, reservation .. ' ' .. string.format('%.0f', now)}`);

/** ARGV: the time or nothing, and the microseconds for which the client reads from the primary. */
export const READ_NEWEST = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  redis.call('HSET', KEYS[1], 'newestUntil', string.format('%.0f', now + tonumber(ARGV[2])))
  keepFor(tonumber(ARGV[2]) / 1000)
  return 1`);

/** ARGV: the reservation, then `grant`, `generation`, `disabled` (1 or 0), `limits` or '', and `until`. */
export const STORE_GRANT = new RedisScript(`
  -- The reservation is gone after a change or a flush: the grant may be outdated.
  if redis.call('HGET', KEYS[1], 'reservation') ~= ARGV[1] then return 0 end
  redis.call('HSET', KEYS[1], 'grant', ARGV[2], 'generation', ARGV[3], 'disabled', ARGV[4], 'limits', ARGV[5],
    'until', ARGV[6])
  return redis.call('HDEL', KEYS[1], 'reservation')`);

/** Fields that a change of the application removes. The buckets stay. */
export const GRANT_FIELDS = ['grant', 'generation', 'until', 'disabled', 'limits', 'reservation'] as const;
