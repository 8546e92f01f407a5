import { RedisScript } from '../redis/redis-script';
import { NOW_LUA } from './charge-script';

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
