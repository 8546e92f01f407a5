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
import { CHARGE_AND_REMEMBER, CHARGE_REMEMBERED, GIVE_BACK } from './token-request-scripts';

/** A source may fail with this many client ids before it is refused whichever it names next. */
const CLIENTS_PER_SOURCE = 10;
/** A client is remembered for this many lifetimes of its token. */
const LIFETIMES = 2;
const CLASS = 'token';
/** Ids as they are given out: what else is asked for must not stand in a key, and is looked for as this one that nobody has. */
const CLIENT_ID = /^ci_[0-9a-f]{32}$/;
const NOBODY = '-';

type RememberedReply = readonly [grant: string, own: string, charge: ChargeReply];

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
    const since = performance.now();
    const reply = (await this.redis.attempt(
      (redis) => CHARGE_REMEMBERED.run(redis, keysOf(CLIENT_ID.test(clientId) ? clientId : NOBODY), args),
      (late) => this.chargedLate(clientId, late as RememberedReply | null),
    )) as RememberedReply | null | undefined;
    const read = reply && readReply(reply);
    if (read?.grant.clientId !== clientId) return null;
    const { grant, charged } = read;
    const limit = this.limitOf(grant);
    const charge = this.buckets.charged(clientId, CLASS, limit, charged);
    const [allowed, , toFull] = charged;
    const toBeBack = (): number => toFull - Math.ceil((performance.now() - since) * 1_000);
    return { grant, charge, spent: () => Math.max(0, Math.min(allowed * intervalOf(limit), toBeBack())) };
  }

  async chargeClient(grant: Grant, secretDigest: Buffer, remembered: RememberedClient | null): Promise<Charge> {
    const { clientId } = grant;
    const back = remembered?.spent() ?? 0;
    const text = `${secretDigest.toString('base64url')} ${ownLimit(grant)} ${fromGrant(grant)}`;
    return this.buckets.charge(clientId, CLASS, this.limitOf(grant), (redis, args) =>
      CHARGE_AND_REMEMBER.run(redis, keysOf(clientId), [...args, text, this.rememberedMs, back]),
    );
  }

  async giveBack(remembered: RememberedClient): Promise<void> {
    const args = [bucketField(CLASS), remembered.spent()];
    const { clientId } = remembered.grant;
    await this.redis.attempt((redis) => GIVE_BACK.run(redis, [clientKey(clientId)], args));
  }

  async forget(clientId: string): Promise<void> {
    await this.redis.attempt((redis) => redis.del(rememberedKey(clientId)));
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

  private get rememberedMs(): number {
    return this.settings.accessTokenTtlSeconds * LIFETIMES * 1_000;
  }
}

/** Null for what nobody of this version could have written. */
function readReply([text, own, charged]: RememberedReply): {
  readonly grant: Grant;
  readonly charged: ChargeReply;
} | null {
  const grant = toGrant(text);
  return grant && ownLimit(grant) === own ? { grant, charged } : null;
}

/** As the script reads it; nothing where the client has none. */
const ownLimit = ({ limits: { token } }: Grant): string => (token ? `${intervalOf(token)}/${token.burst}` : '');

/** The number is that of the text's form: of another version there is nothing to be read there. */
const rememberedKey = (clientId: string): string => `remembered:1:{${clientId}}`;
const keysOf = (clientId: string): readonly string[] => [clientKey(clientId), rememberedKey(clientId)];
