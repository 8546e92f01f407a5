import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Charge, RateLimit } from '#libs/kernel';
import {
  type ChargeReply,
  RedisServer,
  Settings,
  TokenBuckets,
  bucketField,
  clientKey,
  intervalOf,
  limitOf,
} from '#libs/platform';
import type { Grant } from '../domain/grant';
import { type RememberedClient, TokenRequestLimiter } from '../domain/token-request-limiter.port';
import { fromGrant, toGrant } from './grant-text';
import { CHARGE_AND_REMEMBER, CHARGE_REMEMBERED, GIVE_BACK, REMEMBER, REMEMBERED } from './token-request-scripts';

/** A source may fail with this many client ids before it is refused whichever it names next. */
const CLIENTS_PER_SOURCE = 10;
/** A client is remembered for this many lifetimes of its token. */
const LIFETIMES = 2;
const CLASS = 'token';
/** Ids as they are given out: what else is asked for must not stand in a key, and is looked for as this one that nobody has. */
const CLIENT_ID = /^ci_[0-9a-f]{32}$/;
const NOBODY = '-';

type RememberedReply = readonly [grant: string, own: string, charge: ChargeReply, backAt: number];

/**
 * Most requests come from clients whose secret was right an hour ago. What was read of them then is remembered in Redis, so
 * that one script knows the secret again and charges the bucket, and Postgres is not asked beforehand. It is only a guess:
 * the statement that begins the token finds it true, or begins none.
 */
@Injectable()
export class TokenRequestLimiterRedis extends TokenRequestLimiter {
  constructor(
    private readonly redis: RedisServer,
    private readonly buckets: TokenBuckets,
    private readonly settings: Settings,
  ) {
    super();
  }

  async chargeRemembered(clientId: string, secretDigest: Buffer): Promise<RememberedClient | null> {
    const { token: general } = this.settings.rateLimits;
    const args = [
      ...['', bucketField(CLASS), intervalOf(general), general.burst],
      ...[secretDigest.toString('base64url'), this.rememberedMs],
    ];
    const reply = (await this.redis.attempt(
      (redis) => CHARGE_REMEMBERED.run(redis, [clientKey(CLIENT_ID.test(clientId) ? clientId : NOBODY)], args),
      (late) => this.chargedLate(clientId, late as RememberedReply | null),
    )) as RememberedReply | null | undefined;
    const read = reply && readReply(reply);
    if (read?.grant.clientId !== clientId) return null;
    const { grant, charged, backAt } = read;
    return { grant, charge: this.buckets.charged(clientId, CLASS, this.limitOf(grant), charged), backAt };
  }

  async chargeClient(grant: Grant, secretDigest: Buffer, remembered: RememberedClient | null): Promise<Charge> {
    const { clientId } = grant;
    const text = `${secretDigest.toString('base64url')} ${ownLimit(grant)} ${fromGrant(grant)}`;
    const keys = [clientKey(clientId)];
    if (remembered?.charge.allowed && ownLimit(remembered.grant) === ownLimit(grant)) {
      // To charge it anew could refuse it for what others were charged meanwhile, though the token may have begun.
      await this.redis.attempt((redis) => REMEMBER.run(redis, keys, [text, this.rememberedMs]));
      return remembered.charge;
    }
    const back = remembered?.charge.allowed ? this.toBeBack(remembered) : [0, 0];
    return this.buckets.charge(clientId, CLASS, this.limitOf(grant), (redis, args) =>
      CHARGE_AND_REMEMBER.run(redis, keys, [...args, text, this.rememberedMs, ...back]),
    );
  }

  async giveBack(remembered: RememberedClient): Promise<void> {
    if (!remembered.charge.allowed) return;
    const args = ['', bucketField(CLASS), ...this.toBeBack(remembered)];
    const { clientId } = remembered.grant;
    await this.redis.attempt((redis) => GIVE_BACK.run(redis, [clientKey(clientId)], args));
  }

  async forget(clientId: string): Promise<void> {
    await this.redis.attempt((redis) => redis.hdel(clientKey(clientId), REMEMBERED));
  }

  async chargeFailure(clientId: string, source: string): Promise<Charge> {
    const { perMinute, burst } = this.settings.rateLimits.token;
    const all = { perMinute: perMinute * CLIENTS_PER_SOURCE, burst: burst * CLIENTS_PER_SOURCE };
    const bySource = await this.buckets.charge(`source ${source}`, 'failure', all);
    // Beyond it no bucket is made for yet another client id: memory is bounded by sources, not by what they make up.
    if (!bySource.allowed) return bySource;
    // Of any length and any characters: what is only asked for must not stand in a key.
    const pair = createHash('sha256').update(`${source}\n${clientId}`).digest('base64url');
    return this.buckets.charge(`failure ${pair}`, 'failure', { perMinute, burst });
  }

  private chargedLate(clientId: string, reply: RememberedReply | null): void {
    const read = reply && readReply(reply);
    if (read) this.buckets.chargedLate(clientId, CLASS, this.limitOf(read.grant), read.charged);
  }

  private limitOf({ limits }: Grant): RateLimit {
    return limitOf(CLASS, limits, this.settings.rateLimits);
  }

  /** Microseconds' worth of what it was charged, and when all of it has come back by itself. */
  private toBeBack({ grant, backAt }: RememberedClient): readonly [number, number] {
    return [intervalOf(this.limitOf(grant)), backAt];
  }

  private get rememberedMs(): number {
    return this.settings.accessTokenTtlSeconds * LIFETIMES * 1_000;
  }
}

/** Null for what nobody of this version could have written. */
function readReply([text, own, charged, backAt]: RememberedReply): {
  readonly grant: Grant;
  readonly charged: ChargeReply;
  readonly backAt: number;
} | null {
  const grant = toGrant(text);
  return grant && ownLimit(grant) === own ? { grant, charged, backAt } : null;
}

/** As the script reads it; nothing where the client has none. */
const ownLimit = ({ limits: { token } }: Grant): string => (token ? `${intervalOf(token)}/${token.burst}` : '');
