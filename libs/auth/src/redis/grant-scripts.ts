import { CHARGE_LUA, NOW_LUA } from '#libs/platform/throttling';
import { RedisScript } from '#libs/platform/redis';

/**
 * The hash KEYS[1] holds one client's cached grant beside its buckets: `grant` (JSON), `generation`, `disabled`, `limits`
 * (JSON: class → microseconds between tokens, tokens), `until` (microseconds), `reservation`, and `newestUntil`
 * (microseconds), until when a client that wrote must not read from standbys.
 */

/**
 * Checks the generation of a token against the cached grant, and charges the request if it is current.
 * ARGV: the time or nothing, the lease in microseconds, the token's generation, the class and its field, microseconds
 * between tokens, tokens of a full bucket, a reservation in case there is none, microseconds for which a client that
 * writes reads from the primary (0 without standbys).
 * Gives `superseded`; `current` with the freshness of reads, the grant and perhaps the charge; or `missing` with that
 * freshness, and the reservation that stands with the time now.
 */
export const CHECK_GRANT_AND_CHARGE = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  local cached = redis.call('HMGET', KEYS[1], 'grant', 'generation', 'until', 'disabled', 'limits', 'newestUntil')
  local freshness, remembered = 'newest', tonumber(ARGV[9])
  if remembered > 0 and ARGV[4] == 'write' then
    redis.call('HSET', KEYS[1], 'newestUntil', string.format('%.0f', now + remembered))
    keepFor(remembered / 1000)
  elseif now > (tonumber(cached[6]) or 0) then
    freshness = 'recent'
  end
  local lease = tonumber(ARGV[2])
  local left = (tonumber(cached[3]) or 0) - now
  -- A grant that claims more than a lease is of a clock that was set back since.
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
  -- All who miss it share one that stands: were each to make its own, of many at once none could keep what it read.
  local reservation = redis.call('HGET', KEYS[1], 'reservation')
  if not reservation then
    reservation = ARGV[8]
    redis.call('HSET', KEYS[1], 'reservation', reservation)
  end
  keepFor(10000)
  return {'missing', freshness, reservation .. ' ' .. string.format('%.0f', now)}`);

/** ARGV: the reservation, then `grant`, `generation`, `disabled` (1 or 0), `limits` or nothing, and `until`. */
export const STORE_GRANT = new RedisScript(`
  -- A change since then took the reservation away, and so did a flush: what was read may be old.
  if redis.call('HGET', KEYS[1], 'reservation') ~= ARGV[1] then return 0 end
  redis.call('HSET', KEYS[1], 'grant', ARGV[2], 'generation', ARGV[3], 'disabled', ARGV[4], 'limits', ARGV[5],
    'until', ARGV[6])
  return redis.call('HDEL', KEYS[1], 'reservation')`);

/** The cached grant and whatever reservation there is: what a change removes. The buckets stay as they are. */
export const GRANT_FIELDS = ['grant', 'generation', 'until', 'disabled', 'limits', 'reservation'] as const;
