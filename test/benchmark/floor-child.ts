// The floor: a page of assets in as little as a careful hand would write on node:http, with the same token check, bucket,
// statement, shape, cursor and headers. No framework, no log, no row-level security, no other route.
import { createCipheriv, createHash, createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { listStatement } from '../../libs/inventory/src/typeorm/asset-statements';
import { ASSET_TYPES } from '../../libs/inventory/src/domain/asset-category';
import { tellMeasurements } from './measured-process';

const PAGE = 25;
const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];
const OWNER_SOURCES = [null, 'MANUAL', 'API', 'INTEGRATION', 'RULE'];
const LIMIT = 100_000;

/** KEYS: the client. ARGV: the token's generation, microseconds between tokens, burst. */
const CHECK = `
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local copy = redis.call('HMGET', KEYS[1], 'generation', 'full')
  if copy[1] ~= ARGV[1] then return -1 end
  local interval, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
  local fullAt = math.max(tonumber(copy[2]) or now, now) + interval
  if fullAt > now + interval * burst then return -2 end
  redis.call('HSET', KEYS[1], 'full', string.format('%.0f', fullAt))
  return math.floor((now + interval * burst - fullAt) / interval)`;

interface Claims {
  readonly client_id: string;
  readonly workspace: string;
  readonly generation: number;
  readonly exp: number;
}

const redis = new Redis(process.env['REDIS_URL'] as string);
redis.defineCommand('check', { numberOfKeys: 1, lua: CHECK });
const pool = new Pool({
  connectionString: process.env['DATABASE_URL'] as string,
  max: 10,
  options: '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off',
});
const publicKey = createPublicKey(readFileSync(process.env['SIGNING_KEY'] as string));
const cursorKey = randomBytes(32);
const tokens = new Map<string, Claims>();
const statement = listStatement('all', 0, true);

function claimsOf(token: string): Claims {
  const digest = createHash('sha256').update(token).digest('base64');
  const known = tokens.get(digest);
  if (known && known.exp * 1_000 > Date.now()) return known;
  const [header = '', payload = '', signature = ''] = token.split('.');
  const genuine = verify(
    'RSA-SHA256',
    Buffer.from(`${header}.${payload}`),
    publicKey,
    Buffer.from(signature, 'base64url'),
  );
  if (!genuine) throw new Error('The token is not genuine.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
  tokens.set(digest, claims);
  return claims;
}

function toItem(row: (string | null)[]): object {
  const type = ASSET_TYPES[Number(row[3]) - 1] as string;
  const category = type.startsWith('CLOUD') ? 'CLOUD' : type;
  const of = (name: string, value: string | null | undefined): string | null =>
    category === name ? (value ?? null) : null;
  const checkedAt = row[11] ? new Date(Number(row[11])).toISOString() : null;
  const holds = (category === 'INFORMATION' || category === 'CUSTOM') && (row[13] ?? row[14] ?? row[15]) != null;
  const flag = (value: string | null | undefined): boolean | null => (value == null ? null : value === 't');
  return {
    id: row[2],
    name: row[4],
    categoryKey: category,
    type,
    classification: CLASSIFICATIONS[Number(row[5])],
    completeStatus: row[7] ? 'COMPLETE' : 'INCOMPLETE',
    description: row[6] || null,
    ownerId: row[7] ?? null,
    ownerSource: OWNER_SOURCES[Number(row[8] ?? 0)],
    externalId: row[9],
    createdAt: new Date(Number(row[10])).toISOString(),
    lastCheckedAt: checkedAt,
    tags: JSON.parse(row[12] as string) as unknown,
    dataStored: holds
      ? { containsPatientData: flag(row[13]), containsUserData: flag(row[14]), userDataInfo: row[15] ?? null }
      : null,
    accountId: of('CLOUD', row[16]),
    region: of('CLOUD', row[17]),
    serialNumber: of('COMPUTER', row[18]),
    osVersion: of('COMPUTER', [row[19], row[20]].filter(Boolean).join(' ') || null),
    email: of('EMPLOYEE', row[21]),
  };
}

function cursorOf(position: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', cursorKey, iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify([position, {}])), cipher.final()]);
  return Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url');
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const claims = claimsOf((request.headers.authorization ?? '').slice('Bearer '.length));
  const check = redis as unknown as { check(key: string, ...args: (string | number)[]): Promise<number> };
  const left = await check.check(`floor:${claims.client_id}`, claims.generation, 600, LIMIT);
  if (left < 0) {
    response.writeHead(left === -1 ? 401 : 429).end();
    return;
  }
  const { rows } = await pool.query<(string | null)[]>({
    ...statement,
    values: [claims.workspace, '0', String(PAGE + 1), null],
    rowMode: 'array',
    types: { getTypeParser: () => (value: string) => value },
  });
  const page = rows.slice(0, PAGE);
  const hasNextPage = rows.length > PAGE;
  const body = JSON.stringify({
    results: page.map(toItem),
    pageInfo: {
      hasNextPage,
      endCursor: hasNextPage ? cursorOf(page.at(-1)?.[1] as string) : null,
      totalCount: Number(rows[0]?.[0]),
    },
  });
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    'X-Content-Type-Options': 'nosniff',
    'X-RateLimit-Limit': LIMIT,
    'X-RateLimit-Remaining': left,
    RateLimit: `"read";r=${left};t=1`,
    'RateLimit-Policy': `"read";q=${LIMIT};w=60`,
  });
  response.end(body);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error);
    response.writeHead(500).end();
  });
});

async function main(): Promise<void> {
  const { client_id: clientId, generation } = JSON.parse(process.env['CLAIMS'] as string) as Claims;
  await redis.hset(`floor:${clientId}`, 'generation', String(generation));
  server.listen(0, '127.0.0.1', () => tellMeasurements((server.address() as AddressInfo).port));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
