import { CHARGE_LUA, NOW_LUA, RedisScript } from '#libs/platform';

/**
 * KEYS[1] is the hash with the buckets of a client; KEYS[2] what is remembered of it: the digest of its secret, the limit of
 * its own as microseconds between tokens and tokens of a full bucket, or nothing, and its grant (JSON), with a blank between
 * them.
 */

/**
 * ARGV: the time or nothing, the field, microseconds between tokens and tokens of a full bucket where the client has no limit
 * of its own, the digest, and for how many milliseconds more it is remembered.
 * Gives the grant, the limit of its own and the charge, or nothing for another digest than the one that is remembered.
 */
export const CHARGE_REMEMBERED = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  local text = redis.call('GET', KEYS[2]) or ''
  if string.sub(text, 1, #ARGV[5]) ~= ARGV[5] then return false end
  local own, grant = string.match(text, '^ (%S*) (.+)$', #ARGV[5] + 1)
  if not grant then return false end
  local interval, burst = string.match(own, '^(%d+)/(%d+)$')
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
  return {grant, own, charge(ARGV[2], now, tonumber(interval or ARGV[3]), tonumber(burst or ARGV[4]))}`);

/** Lua: `giveBack(field, microseconds)` gives so many microseconds' worth of tokens back to a bucket. */
const GIVE_BACK_LUA = `
  local function giveBack(field, microseconds)
    -- Of a bucket that is not known any more there is nothing to be given back.
    local fullAt = tonumber(redis.call('HGET', KEYS[1], field))
    if fullAt then redis.call('HSET', KEYS[1], field, string.format('%.0f', fullAt - microseconds)) end
  end`;

/** ARGV: the field, microseconds' worth of tokens. */
export const GIVE_BACK = new RedisScript(`
  ${GIVE_BACK_LUA}
  giveBack(ARGV[1], tonumber(ARGV[2]))`);

/**
 * ARGV: the time or nothing, the field, microseconds between tokens, tokens of a full bucket, what is to be remembered, for
 * how many milliseconds, and how many microseconds' worth of tokens are given back before. Gives the charge.
 */
export const CHARGE_AND_REMEMBER = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  ${GIVE_BACK_LUA}
  giveBack(ARGV[2], tonumber(ARGV[7]))
  redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6])
  return charge(ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))`);
