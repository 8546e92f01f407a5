import { CHARGE_LUA, KEEP_FOR_LUA, NOW_LUA, RedisScript } from '#libs/platform';

/**
 * The field of the hash KEYS[1], which holds a client's buckets, with what is remembered of it: the digest of its secret, the
 * limit of its own as microseconds between tokens and tokens of a full bucket, or nothing, and its grant (JSON), with a blank
 * between them. The number is that of this form: of another version there is nothing to be read.
 */
export const REMEMBERED = 'remembered:1';

/**
 * ARGV: the time or nothing, the field, microseconds between tokens and tokens of a full bucket where the client has no limit
 * of its own, the digest, and for how many milliseconds more it is remembered.
 * Gives the grant, the limit of its own, the charge, and when all of it has come back by itself, in microseconds of Redis'
 * clock; or nothing for another digest than the one that is remembered.
 */
export const CHARGE_REMEMBERED = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  local text = redis.call('HGET', KEYS[1], '${REMEMBERED}') or ''
  if string.sub(text, 1, #ARGV[5]) ~= ARGV[5] then return false end
  local own, grant = string.match(text, '^ (%S*) (.+)$', #ARGV[5] + 1)
  if not grant then return false end
  local interval, burst = string.match(own, '^(%d+)/(%d+)$')
  keepFor(tonumber(ARGV[6]))
  local charged = charge(ARGV[2], now, tonumber(interval or ARGV[3]), tonumber(burst or ARGV[4]))
  return {grant, own, charged, now + charged[3]}`);

/** ARGV: what is to be remembered, and for how many milliseconds. */
export const REMEMBER = new RedisScript(`
  ${KEEP_FOR_LUA}
  redis.call('HSET', KEYS[1], '${REMEMBERED}', ARGV[1])
  keepFor(tonumber(ARGV[2]))
  return 1`);

/**
 * Lua: `giveBack(field, now, microseconds, backAt)` gives so many microseconds' worth of tokens back to a bucket, as far as
 * they have not come back by themselves, as all have at `backAt`.
 */
const GIVE_BACK_LUA = `
  local function giveBack(field, now, microseconds, backAt)
    -- Of a bucket that is not known any more there is nothing to be given back.
    local fullAt = tonumber(redis.call('HGET', KEYS[1], field))
    local left = math.min(microseconds, backAt - now)
    if fullAt and left > 0 then redis.call('HSET', KEYS[1], field, string.format('%.0f', fullAt - left)) end
  end`;

/** ARGV: the time or nothing, the field, microseconds' worth of tokens, and when all of them have come back. */
export const GIVE_BACK = new RedisScript(`
  ${NOW_LUA}
  ${GIVE_BACK_LUA}
  giveBack(ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))`);

/**
 * ARGV: the time or nothing, the field, microseconds between tokens, tokens of a full bucket, what is to be remembered, for
 * how many milliseconds, and what is given back before: microseconds' worth of tokens, and when all of them have come back.
 * Gives the charge.
 */
export const CHARGE_AND_REMEMBER = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  ${GIVE_BACK_LUA}
  giveBack(ARGV[2], now, tonumber(ARGV[7]), tonumber(ARGV[8]))
  redis.call('HSET', KEYS[1], '${REMEMBERED}', ARGV[5])
  keepFor(tonumber(ARGV[6]))
  return charge(ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))`);
