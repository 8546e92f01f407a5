import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Charge, type Freshness, RATE_CLASSES, type RateClass, type RateLimit } from '#libs/kernel';
import {
  type ChargeReply,
  type RedisServer,
  type Settings,
  type TokenBuckets,
  bucketField,
  clientKey,
  intervalOf,
  limitOf,
} from '#libs/platform';
import type { Grant } from '../domain/grant';
import { type CopiedGrant, GrantCopies } from '../domain/grant-copies.port';
import { CHECK_GRANT, GRANT_FIELDS, KEEP_GRANT } from './grant-scripts';
import { fromGrant, toGrant } from './grant-text';
import { NEWEST_AFTER_WRITE_MS, RecentWrites } from './recent-writes';

/** How long a copy may be believed, counted from before the truth was asked. */
const LEASE_MS = 2_000;
/** Redis' clock and ours may run a little apart while a lease is waited out. */
const MARGIN_MS = 100;

type CheckReply = readonly [kind: string, freshness?: Freshness, text?: string, charge?: ChargeReply];

/**
 * Copies in Redis: the grant and the client's buckets are one hash, so that one script, one round trip, answers for both.
 *
 * A copy is written only under the reservation that stood when its reader went to ask Postgres, and every change takes
 * the reservation away with the copy. So what was read before a change is never kept after it, whatever a reader or Redis
 * did in between; and where Redis cannot be told of a change, the change waits until every copy has run out. A Redis that
 * comes back may hold copies of before a change again: until they have run out, none of them is believed.
 */
export class GrantCopiesRedis extends GrantCopies {
  private readonly hasStandbys: boolean;
  private readonly writesHere = new RecentWrites();

  constructor(
    private readonly redis: RedisServer,
    private readonly settings: Settings,
    private readonly buckets: TokenBuckets,
    /** Whether other processes may keep copies in a Redis that this one does not know. */
    private readonly copiesElsewhere: boolean,
  ) {
    super();
    this.hasStandbys = settings.databaseReplicaUrls.length > 0;
  }

  async check(clientId: string, generation: bigint, rateClass: RateClass): Promise<CopiedGrant> {
    const general = this.settings.rateLimits[rateClass];
    const key = clientKey(clientId);
    const args = [
      '',
      this.leaseAt(key) * 1_000,
      String(generation),
      rateClass,
      bucketField(rateClass),
      intervalOf(general),
      general.burst,
      randomUUID(),
      this.hasStandbys ? NEWEST_AFTER_WRITE_MS * 1_000 : 0,
    ];
    const reply = (await this.redis.attempt(
      (redis) => CHECK_GRANT.run(redis, [key], args),
      (late) => this.checkedLate(clientId, rateClass, late as CheckReply),
    )) as CheckReply | undefined;
    const [kind, inRedis, text = '', charge] = reply ?? ['away'];
    const freshness = this.freshnessOf(clientId, rateClass, inRedis);
    if (kind === 'superseded') return { kind };
    if (kind === 'away') return { kind, freshness };
    if (kind === 'missing') return { kind, reservation: text, freshness };
    const grant = toGrant(text);
    // Somebody else wrote it, or another version of this program: Postgres knows.
    if (!grant) return { kind: 'away', freshness };
    return {
      kind: 'current',
      freshness,
      grant,
      charge: charge ? this.buckets.charged(clientId, rateClass, this.limitOf(grant, rateClass), charge) : null,
    };
  }

  async keep(grant: Grant, reservation: string, rateClass: RateClass | null): Promise<Charge | null> {
    const [token = '', reservedAt = ''] = reservation.split(' ');
    const until = String(Number(reservedAt) + LEASE_MS * 1_000);
    const limit = rateClass && this.limitOf(grant, rateClass);
    const args = [
      ...['', token, until, fromGrant(grant), String(grant.generation), grant.disabled ? 1 : 0, ownLimits(grant)],
      ...(limit && rateClass ? [bucketField(rateClass), intervalOf(limit), limit.burst] : []),
    ];
    const reply = await this.redis.attempt(
      (redis) => KEEP_GRANT.run(redis, [clientKey(grant.clientId)], args),
      (late) => late && limit && this.buckets.chargedLate(grant.clientId, rateClass, limit, late as ChargeReply),
    );
    if (!reply || !limit || !rateClass) return null;
    return this.buckets.charged(grant.clientId, rateClass, limit, reply as ChargeReply);
  }

  async forget(clientId: string): Promise<void> {
    if (!this.redis.isConfigured && !this.copiesElsewhere) return;
    const told = await this.redis.attempt((redis) => redis.hdel(clientKey(clientId), ...GRANT_FIELDS));
    if (told === undefined) await delay(LEASE_MS + MARGIN_MS);
  }

  /** `recent` for a client that has not written lately; `newest` where that is not known. */
  private freshnessOf(clientId: string, rateClass: RateClass, inRedis: Freshness | undefined): Freshness {
    if (!this.hasStandbys) return 'newest';
    if (!this.redis.isConfigured) return this.writesHere.freshnessOf(clientId, rateClass);
    // Redis does not know of writes while it was away.
    if (this.redis.unbrokenMs(clientKey(clientId)) < NEWEST_AFTER_WRITE_MS) return 'newest';
    return inRedis ?? 'newest';
  }

  /** How long the copies may have yet that are believed. */
  private leaseAt(key: string): number {
    return this.redis.unbrokenMs(key) < LEASE_MS + MARGIN_MS ? 0 : LEASE_MS;
  }

  private checkedLate(clientId: string, rateClass: RateClass, [, , text = '', charge]: CheckReply): void {
    const grant = toGrant(text);
    if (charge && grant) this.buckets.chargedLate(clientId, rateClass, this.limitOf(grant, rateClass), charge);
  }

  private limitOf(grant: Grant, rateClass: RateClass): RateLimit {
    return limitOf(rateClass, grant.limits, this.settings.rateLimits);
  }
}

/** As the script reads them; nothing where the application has none. */
function ownLimits({ limits }: Grant): string {
  const own = RATE_CLASSES.flatMap((rateClass) => {
    const limit = limits[rateClass];
    return limit ? [[rateClass, [intervalOf(limit), limit.burst]] as const] : [];
  });
  return own.length === 0 ? '' : JSON.stringify(Object.fromEntries(own));
}
