import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Freshness,
  RATE_CLASSES,
  type RateClass,
  type RateLimit,
  applicationId,
  isUuid,
  workspaceId,
} from '#libs/kernel';
import { type ChargeReply, bucketField, bucketSizeOf, chargeOf, clientKey, limitOf } from '#libs/platform/throttling';
import { type RedisClient } from '#libs/platform/redis';
import { type Settings } from '#libs/platform/config';
import type { Grant } from '../domain/application';
import { type CachedGrant, GrantCache } from '../domain/grant-cache.port';
import { CHECK_GRANT_AND_CHARGE, GRANT_FIELDS, READ_NEWEST, STORE_GRANT } from './grant-scripts';

/** Lifetime of a cached grant, counted from before Postgres was asked. */
const LEASE_MS = 2_000;
/** Allowed difference between Redis' clock and ours when waiting for a lease to expire. */
const MARGIN_MS = 100;
/**
 * A client reads from the primary for this long after its write was accepted: ten seconds for the body to arrive, five
 * for the write, and ten to spare.
 */
const NEWEST_AFTER_WRITE_MS = 25_000;

type CheckReply = readonly [kind: string, freshness?: Freshness, text?: string, charge?: ChargeReply];

/** Remembers clients that wrote recently, for a single instance without Redis. */
class RecentWrites {
  /** When each client may read from standbys again, oldest entry first. */
  private readonly newestUntil = new Map<string, number>();

  /** Also records a write. */
  freshnessOf(clientId: string, rateClass: RateClass): Freshness {
    const now = performance.now();
    if (rateClass === 'write') this.note(clientId);
    return (this.newestUntil.get(clientId) ?? -Infinity) >= now ? 'newest' : 'recent';
  }

  note(clientId: string): void {
    const now = performance.now();
    this.newestUntil.delete(clientId);
    this.newestUntil.set(clientId, now + NEWEST_AFTER_WRITE_MS);
    for (const [oldest, until] of this.newestUntil) {
      if (until >= now) break;
      this.newestUntil.delete(oldest);
    }
  }
}

/**
 * One hash in Redis holds a client's grant and buckets, so that one script and one round trip serve both.
 *
 * A grant is stored only under the reservation that existed before Postgres was asked. Every change removes grant and
 * reservation, so data read before a change is never cached after it. When Redis is unreachable, a change waits until
 * every cached grant has expired. After an outage Redis may have older data, so cached grants are ignored for the
 * length of one lease (docs/decisions/0006).
 */
export class GrantCacheRedis extends GrantCache {
  private readonly hasStandbys: boolean;
  private readonly writesHere = new RecentWrites();

  constructor(
    private readonly redis: RedisClient,
    private readonly settings: Settings,
    /** True when other processes may cache grants in a Redis that this process does not know. */
    private readonly cachedElsewhere: boolean,
  ) {
    super();
    this.hasStandbys = settings.databaseStandbyUrls.length > 0;
  }

  async checkAndCharge(clientId: string, generation: bigint, rateClass: RateClass): Promise<CachedGrant> {
    const { rateLimits } = this.settings;
    const general = bucketSizeOf(rateLimits[rateClass]);
    const canLease = this.redis.unbrokenMs > LEASE_MS + MARGIN_MS;
    const args = [
      '',
      canLease ? LEASE_MS * 1_000 : 0,
      String(generation),
      rateClass,
      bucketField(rateClass),
      general.interval,
      general.burst,
      randomUUID(),
      // Also where this instance has no standbys: another one may have some.
      NEWEST_AFTER_WRITE_MS * 1_000,
    ];
    const script = CHECK_GRANT_AND_CHARGE;
    const reply = await this.redis.attempt((redis) => script.run(redis, [clientKey(clientId)], args));
    const [kind, inRedis, text = '', charged] = (reply as CheckReply | undefined) ?? ['away'];
    const freshness = this.freshnessOf(clientId, rateClass, inRedis);
    if (kind === 'superseded') return { kind };
    if (kind === 'away') return { kind, freshness };
    if (kind === 'missing') return { kind, reservation: text, freshness };
    const grant = toGrant(text);
    // Another program or another version wrote it. Postgres has the truth.
    if (!grant) return { kind: 'away', freshness };
    const size = bucketSizeOf(limitOf(rateClass, grant.limits, rateLimits));
    return { kind: 'current', freshness, grant, charge: charged ? chargeOf(charged, size) : null };
  }

  async store(grant: Grant, reservation: string): Promise<void> {
    const [token = '', reservedAt = ''] = reservation.split(' ');
    const until = String(Number(reservedAt) + LEASE_MS * 1_000);
    const fields = [fromGrant(grant), String(grant.generation), grant.disabled ? 1 : 0, ownSizes(grant), until];
    await this.redis.attempt((redis) => STORE_GRANT.run(redis, [clientKey(grant.clientId)], [token, ...fields]));
  }

  async invalidate(clientId: string): Promise<void> {
    if (!this.redis.isConfigured && !this.cachedElsewhere) return;
    const told = await this.redis.attempt((redis) => redis.hdel(clientKey(clientId), ...GRANT_FIELDS));
    if (told === undefined) await delay(LEASE_MS + MARGIN_MS);
  }

  async readNewest(clientId: string): Promise<void> {
    if (!this.redis.isConfigured) this.writesHere.note(clientId);
    else {
      const args = ['', NEWEST_AFTER_WRITE_MS * 1_000];
      await this.redis.attempt((redis) => READ_NEWEST.run(redis, [clientKey(clientId)], args));
    }
  }

  /** Returns `recent` for a client without recent writes, and `newest` when that is unknown. */
  private freshnessOf(clientId: string, rateClass: RateClass, inRedis: Freshness | undefined): Freshness {
    if (!this.hasStandbys) return 'newest';
    if (!this.redis.isConfigured) return this.writesHere.freshnessOf(clientId, rateClass);
    // Redis misses writes that happened while it was away.
    if (this.redis.unbrokenMs < NEWEST_AFTER_WRITE_MS) return 'newest';
    return inRedis ?? 'newest';
  }
}

/** The form that the script reads. Empty when the application has no own limits. */
function ownSizes({ limits }: Grant): string {
  const own = RATE_CLASSES.flatMap((rateClass) => {
    const limit = limits[rateClass];
    if (!limit) return [];
    const { interval, burst } = bucketSizeOf(limit);
    return [[rateClass, [interval, burst]] as const];
  });
  return own.length === 0 ? '' : JSON.stringify(Object.fromEntries(own));
}

interface GrantText extends Omit<Grant, 'id' | 'workspaceId' | 'generation'> {
  readonly id: string;
  readonly workspace: string;
  readonly generation: string;
}

const fromGrant = ({ workspaceId: workspace, ...grant }: Grant): string =>
  JSON.stringify({ ...grant, workspace, generation: String(grant.generation) } satisfies GrantText);

/** Returns null for anything else than a grant. Names each member, because a copy of the rest costs every request. */
function toGrant(text: string): Grant | null {
  try {
    const { id, workspace, clientId, scopes, limits, disabled, generation } = JSON.parse(text) as GrantText;
    if (!isUuid(id) || !isUuid(workspace) || !Array.isArray(scopes)) return null;
    if (!Object.values(limits).every(isLimit)) return null;
    return {
      id: applicationId(id),
      workspaceId: workspaceId(workspace),
      clientId,
      scopes,
      limits,
      disabled,
      generation: BigInt(generation),
    };
  } catch {
    return null;
  }
}

const isLimit = ({ perMinute, burst }: RateLimit): boolean =>
  [perMinute, burst].every((count) => Number.isSafeInteger(count) && count >= 1);
