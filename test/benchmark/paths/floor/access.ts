import { createPublicKey, hash, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { gatherCommands } from '../../../../libs/platform/src/redis/redis-commands';

/** A bucket that never becomes empty: its tokens, and microseconds until one is refilled. */
const BURST = 6_000_000;
const INTERVAL = 10;

const CHARGE_LUA = `
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local function charge(class, interval, burst)
    local fullAt = math.max(tonumber(redis.call('HGET', KEYS[1], class)) or now, now) + interval
    if fullAt > now + interval * burst then return -2 end
    redis.call('HSET', KEYS[1], class, string.format('%.0f', fullAt))
    return math.floor((now + interval * burst - fullAt) / interval)
  end`;

/** KEYS: the client. ARGV: the token's generation, the class, microseconds between tokens, tokens of a full bucket. */
const CHECK = `${CHARGE_LUA}
  if redis.call('HGET', KEYS[1], 'generation') ~= ARGV[1] then return -1 end
  return charge(ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]))`;

/** The same without a token. */
const CHARGE = `${CHARGE_LUA}
  return charge(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))`;

export type RequestClass = 'read' | 'write' | 'token';

export interface Claims {
  readonly client_id: string;
  readonly application: string;
  readonly workspace: string;
  readonly generation: number;
  readonly exp: number;
}

interface Scripts {
  check(key: string, generation: number, requestClass: string, interval: number, burst: number): Promise<number>;
  charge(key: string, requestClass: string, interval: number, burst: number): Promise<number>;
}

const redis = new Redis(process.env['REDIS_URL'] as string);
gatherCommands(redis);
redis.defineCommand('check', { numberOfKeys: 1, lua: CHECK });
redis.defineCommand('charge', { numberOfKeys: 1, lua: CHARGE });
const scripts = redis as unknown as Scripts;
const publicKey = createPublicKey(readFileSync(process.env['SIGNING_KEY'] as string));
const verified = new Map<string, Claims>();

const keyOf = (clientId: string): string => `floor:${clientId}`;

/** A refusal with its status. */
export class Refused extends Error {
  constructor(readonly status: number) {
    super(`Refused with ${status}.`);
  }
}

/** Returns the token's owner and the remaining tokens. Signatures are verified once, everything else every time. */
export async function admit(
  authorization: string | undefined,
  requestClass: RequestClass,
): Promise<{ readonly claims: Claims; readonly left: number }> {
  const claims = claimsOf((authorization ?? '').slice('Bearer '.length));
  const left = await scripts.check(keyOf(claims.client_id), claims.generation, requestClass, INTERVAL, BURST);
  if (left < 0) throw new Refused(left === -1 ? 401 : 429);
  return { claims, left };
}

export async function chargeToken(clientId: string): Promise<number> {
  const left = await scripts.charge(keyOf(clientId), 'token', INTERVAL, BURST);
  if (left < 0) throw new Refused(429);
  return left;
}

/** Accepts only tokens of this generation from now on. */
export async function setGeneration(clientId: string, generation: number): Promise<void> {
  await redis.hset(keyOf(clientId), 'generation', String(generation));
}

function claimsOf(token: string): Claims {
  const digest = hash('sha256', token, 'base64');
  const known = verified.get(digest);
  if (known && known.exp * 1_000 > Date.now()) return known;
  const [header = '', payload = '', signature = ''] = token.split('.');
  const signed = Buffer.from(`${header}.${payload}`);
  if (!verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))) throw new Refused(401);
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  verified.set(digest, claims);
  return claims;
}

/** Headers with the remaining tokens. */
export const rateHeaders = (requestClass: RequestClass, left: number): Record<string, string | number> => ({
  'X-RateLimit-Limit': BURST,
  'X-RateLimit-Remaining': left,
  RateLimit: `"${requestClass}";r=${left};t=1`,
  'RateLimit-Policy': `"${requestClass}";q=${BURST};w=60`,
});
