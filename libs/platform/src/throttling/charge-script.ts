import { RedisScript } from '../redis/redis-commands';

/**
 * Lua: the time in microseconds by Redis' own clock, which all instances share. A non-empty first argument replaces it,
 * for tests.
 */
export const NOW_LUA = `
  local now = tonumber(ARGV[1])
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end`;

/**
 * Lua: `keepFor(milliseconds)` extends the life of the hash KEYS[1] to at least this long. Its other fields may need
 * longer.
 */
const KEEP_FOR_LUA = `
  local function keepFor(milliseconds)
    if redis.call('PTTL', KEYS[1]) < milliseconds then redis.call('PEXPIRE', KEYS[1], milliseconds) end
  end`;

/**
 * Lua: `charge(field, now, interval, burst)` takes a token from the bucket in a field of the hash KEYS[1], as
 * `chargeBucket` does. Returns allowed (1 or 0), the remaining tokens as time, and the time to full, in microseconds.
 */
export const CHARGE_LUA = `
  ${KEEP_FOR_LUA}
  local function charge(field, now, interval, burst)
    local stored = redis.call('HGET', KEYS[1], field)
    local emptyAt = now + interval * burst
    -- At most as far ahead as an empty bucket: a clock that steps back must not lock a client out. NaN counts as full.
    local fullAt = math.min(math.max(now, tonumber(stored) or now), emptyAt)
    local allowed = 0
    if fullAt + interval <= emptyAt then
      fullAt = fullAt + interval
      allowed = 1
    end
    local text = string.format('%.0f', fullAt)
    if text ~= stored then redis.call('HSET', KEYS[1], field, text) end
    -- A full bucket needs no state.
    keepFor(math.ceil((fullAt - now) / 1000) + 10000)
    return {allowed, emptyAt - fullAt, fullAt - now}
  end`;

/** KEYS: the hash. ARGV: the time or '', the field, microseconds between tokens, tokens of a full bucket. */
export const CHARGE = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  return charge(ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))`);

/** Puts a token back into a bucket. KEYS: the hash. ARGV: the field, microseconds between tokens. */
export const GIVE_BACK = new RedisScript(`
  local stored = tonumber(redis.call('HGET', KEYS[1], ARGV[1]))
  if stored then redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', stored - tonumber(ARGV[2]))) end
  return 0`);

/**
 * Reads buckets and charges nothing, as `tokensLeft` does. KEYS: the hash. ARGV: the time or nothing, then for each bucket its
 * field, microseconds between tokens, and tokens when full. Gives the time worth of tokens left in each, in microseconds.
 */
export const SPARE = new RedisScript(`
  ${NOW_LUA}
  local spare = {}
  for at = 2, #ARGV, 3 do
    local emptyAt = now + tonumber(ARGV[at + 1]) * tonumber(ARGV[at + 2])
    local stored = redis.call('HGET', KEYS[1], ARGV[at])
    spare[#spare + 1] = emptyAt - math.min(math.max(now, tonumber(stored) or now), emptyAt)
  end
  return spare`);
