import { RedisScript } from '../redis/redis-commands';
import { CHARGE_LUA, NOW_LUA } from '../throttling/charge-script';

/**
 * Takes the place of a client and a token of its bucket, or neither. Replies nothing when the place is taken, and
 * otherwise as a charge does.
 *
 * KEYS: the client's hash, the place. ARGV: '', the bucket's field, microseconds between tokens, tokens of a full bucket,
 * the holder, milliseconds of the lease.
 */
export const TAKE_PLACE = new RedisScript(`
  ${NOW_LUA}
  ${CHARGE_LUA}
  if redis.call('GET', KEYS[2]) then return false end
  local charged = charge(ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))
  if charged[1] == 1 then redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6]) end
  return charged`);

/** Extends the lease, also one that Redis has lost. KEYS: the place. ARGV: the holder, milliseconds of the lease. */
export const KEEP_PLACE = new RedisScript(`
  local holder = redis.call('GET', KEYS[1])
  if holder and holder ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1`);

/** KEYS: the place. ARGV: the holder. */
export const LEAVE_PLACE = new RedisScript(`
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
  return 0`);
