import { type Freshness, NEWEST } from '#libs/kernel';
import type { RedisServer } from '../redis/redis-server';
import { RedisScript } from '../redis/redis-script';
import { KEEP_FOR_LUA, NOW_LUA } from '../throttling/charge-script';
import { clientKey } from '../throttling/token-buckets';
import { MAX_LAG_MS } from './replica';
import type { Replicas } from './replicas';

/** How long Redis remembers a client's last write. Whoever comes back later counts as having just written. */
const REMEMBERED_MS = 600_000;
/** How long a write that Redis could not be told of waits for the replicas. */
const FOLLOW_MS = 1_000;

/**
 * Lua: `sinceWrite(stored, now)` gives the microseconds since the client of the hash KEYS[1] last wrote, where `stored` is
 * the field `wroteAt`. A hash without it may have lost it, and a time to come is of another clock: both count as now.
 */
export const SINCE_WRITE_LUA = `
  local function sinceWrite(stored, now)
    local at = tonumber(stored)
    if not at or at > now then
      at = now
      redis.call('HSET', KEYS[1], 'wroteAt', string.format('%.0f', now))
    end
    if redis.call('PTTL', KEYS[1]) < ${REMEMBERED_MS / 2} then redis.call('PEXPIRE', KEYS[1], ${REMEMBERED_MS}) end
    return string.format('%.0f', now - at)
  end`;

/** KEYS: the client's hash. ARGV: the time or nothing. */
const NOTE = new RedisScript(`
  ${NOW_LUA}
  ${KEEP_FOR_LUA}
  redis.call('HSET', KEYS[1], 'wroteAt', string.format('%.0f', now))
  keepFor(${REMEMBERED_MS})
  return 1`);

/**
 * When each client last wrote, so that it reads its own writes whichever replica it is led to. Noted in Redis when a write
 * has ended and before it is answered, whatever came of it; without Redis there is one process only, which remembers by
 * itself. Ages are measured on one clock, that of Redis or ours, and only compared with moments of ours.
 */
export class RecentWrites {
  private readonly local = new Map<string, number>();
  private awayAt = -Infinity;

  constructor(
    private readonly redis: RedisServer,
    /** Null where there are none: then nothing is noted. */
    private readonly replicas: Replicas | null,
  ) {}

  get areNoted(): boolean {
    return this.replicas !== null;
  }

  /** Resolves when every process knows of the write, or every replica shows it. Never rejects. */
  async note(clientId: string): Promise<void> {
    if (!this.replicas) return;
    if (!this.redis.isConfigured) return this.noteHere(clientId);
    const told = await this.redis.attempt((redis) => NOTE.run(redis, [clientKey(clientId)], ['']));
    if (told === undefined) await this.replicas.follow(FOLLOW_MS);
  }

  /** What a client may read at least. `sinceWrite` as the script gave it, or nothing when Redis was away. */
  freshness(clientId: string, sinceWrite: string | undefined): Freshness {
    if (!this.replicas) return NEWEST;
    if (!this.redis.isConfigured) return this.local.get(clientId) ?? -Infinity;
    const now = performance.now();
    if (sinceWrite === undefined) {
      this.awayAt = now;
      return NEWEST;
    }
    // A Redis that was away may be another one now, which was not told of the last writes.
    const returnedAt = now - this.redis.unbrokenMs(clientKey(clientId));
    return Math.max(now - Number(sinceWrite) / 1_000, this.awayAt, returnedAt);
  }

  /** What is further back than any lag that is borne need not be remembered. */
  private noteHere(clientId: string): void {
    const now = performance.now();
    this.local.delete(clientId);
    this.local.set(clientId, now);
    for (const [oldest, at] of this.local) {
      if (now - at <= MAX_LAG_MS) break;
      this.local.delete(oldest);
    }
  }
}
