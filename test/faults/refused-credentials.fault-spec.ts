import crypto from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { pino } from 'pino';
import { Database } from '#libs/platform/database';
import { RedisClient } from '#libs/platform/redis';
import { loadSettings } from '#libs/platform/config';
import { createApp } from '../../apps/api/src/create-app';
import { AccessTokensService } from '../../libs/auth/src/application/access-tokens.service';
import { JWT_BEARER } from '../../libs/auth/src/domain/client-assertion';
import { readClientKeys } from '../../libs/auth/src/jwt/public-jwks';
import { ApiClient } from '../support/api-client';
import { Arrangement } from '../support/arrangement';
import { type TestOperator, openOperator } from '../support/operator';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { type TestApp, UNLIMITED, startApp } from '../support/start-app';
import { type TestDatabase, createTestDatabase } from '../support/test-database';
import { startTemporaryRedis } from '../support/temporary-redis';
import { FaultSetting } from './fault-setting';
import { MINUTE, sized, tell } from './sizes';

/** Number of each kind, in sequence. */
const REQUESTS = sized({ short: 30, long: 5_000 });
const WARM_UP = sized({ short: 10, long: 2_000 });
const ASSERTIONS = sized({ short: 12, long: 600 });
const INSTANCES = sized({ short: 1, long: 3 });
/** Difference of medians. The short form has too few samples, and counts the work instead. */
const APART_MICROSECONDS = sized({ short: 50_000, long: 50 });

const unknown = (): string => `ci_${crypto.randomBytes(16).toString('hex')}`;
const wrong = (): string => `cs_${crypto.randomBytes(36).toString('base64url')}0`;
const form = (clientId: string) => ({
  ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: wrong() },
});

describe('Token requests for an unknown client and with a wrong secret', () => {
  let database: TestDatabase;
  let app: NestExpressApplication;
  let client: ApiClient;
  let known: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    const settings = loadSettings({
      DATABASE_URL: database.databaseUrl,
      REDIS_URL: redisOfTheRun(),
      LOCAL_DIR: process.env['TEST_LOCAL_DIR'],
      BASE_URL: 'https://api.example.test',
      ...UNLIMITED,
    });
    app = await createApp(settings, { log: pino({ level: 'silent' }) });
    await app.listen(0, '127.0.0.1');
    const origin = `http://127.0.0.1:${((app.getHttpServer() as Server).address() as AddressInfo).port}`;
    client = new ApiClient(origin);
    const arrange = new Arrangement(database.admin, settings, origin);
    known = (await arrange.anApplication(await arrange.aWorkspace())).clientId;
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  afterEach(() => jest.restoreAllMocks());

  it('get the same response', async () => {
    const responses = [await client.requestToken(form(unknown())), await client.requestToken(form(known))].map(
      ({ status, headers, text, body }) => ({
        status,
        headers: [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'),
        body: text.replace(String(body['requestId']), ''),
      }),
    );
    expect(responses[0]?.status).toBe(401);
    expect(responses[0]).toEqual(responses[1]);
  });

  it('cost the same statements, digests and comparisons', async () => {
    const redis = app.get(RedisClient, { strict: false });
    const data = app.get(Database, { strict: false });
    const spies = {
      questions: jest.spyOn(data, 'read'),
      charges: jest.spyOn(redis, 'attempt'),
      digests: jest.spyOn(crypto, 'createHmac'),
      comparisons: jest.spyOn(crypto, 'timingSafeEqual'),
    };
    const workOf = async (clientId: string): Promise<Record<string, number>> => {
      jest.clearAllMocks();
      await client.requestToken(form(clientId));
      return Object.fromEntries(Object.entries(spies).map(([name, spy]) => [name, spy.mock.calls.length]));
    };
    const work = await workOf(known);
    expect(work).toEqual({ questions: 1, charges: 2, digests: 1, comparisons: 2 });
    for (const clientId of [unknown(), 'nobody', 'nul\u0000', 'x'.repeat(5_000)]) {
      expect(await workOf(clientId)).toEqual(work);
    }
  });

  it(
    'take the same time',
    async () => {
      const tokens = app.get(AccessTokensService, { strict: false });
      const stranger = unknown();
      const times = new Map<string, number[]>([known, stranger].map((clientId) => [clientId, []]));
      // Measured below HTTP, whose noise is a hundred times larger. The order alternates.
      for (let n = 0; n < WARM_UP + REQUESTS; n += 1) {
        for (const clientId of n % 2 === 0 ? [known, stranger] : [stranger, known]) {
          const secret = wrong();
          const since = process.hrtime.bigint();
          await tokens.issue(clientId, { secret }, '198.51.100.7', null).catch(() => undefined);
          if (n >= WARM_UP) times.get(clientId)?.push(Number(process.hrtime.bigint() - since) / 1_000);
        }
      }
      expectAlike(times.get(known) ?? [], times.get(stranger) ?? []);
    },
    5 * MINUTE,
  );
});

describe('Token requests for an unknown client and with a wrong signature', () => {
  let app: TestApp;
  let operator: TestOperator;
  beforeAll(async () => {
    app = await startApp({ REDIS_URL: redisOfTheRun() });
    operator = await openOperator(app);
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
  });

  it.each(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])(
    'take the same time by %s',
    async (algorithm) => {
      const known = (await app.arrange.anApplication(await app.arrange.aWorkspace())).clientId;
      const stranger = unknown();
      const [right, other] = [
        await generateKeyPair(algorithm, { extractable: true }),
        await generateKeyPair(algorithm),
      ];
      await operator.clientKeys.add(known, await readClientKeys(JSON.stringify(await exportJWK(right.publicKey))));
      const times = new Map<string, number[]>([known, stranger].map((clientId) => [clientId, []]));
      for (let n = 0; n < ASSERTIONS; n += 1) {
        for (const clientId of n % 2 === 0 ? [known, stranger] : [stranger, known]) {
          const assertion = await new SignJWT({ iss: clientId, sub: clientId, aud: app.settings.baseUrl, jti: `${n}` })
            .setExpirationTime('1 minute')
            .setProtectedHeader({ alg: algorithm })
            .sign(other.privateKey);
          const asked = { grant_type: 'client_credentials', client_assertion_type: JWT_BEARER };
          const since = process.hrtime.bigint();
          const { status } = await app.client().requestToken({ ...asked, client_assertion: assertion });
          expect(status).toBe(401);
          if (n >= ASSERTIONS / 6) times.get(clientId)?.push(Number(process.hrtime.bigint() - since) / 1_000);
        }
      }
      expectAlike(
        times.get(known) ?? [],
        times.get(stranger) ?? [],
        sized({ short: 50_000, long: algorithm === 'ES384' ? 3_000 : 1_000 }),
      );
    },
    5 * MINUTE,
  );
});

describe('Token requests for an unknown client and with a wrong secret, over the network', () => {
  let setting: FaultSetting;
  let known: string;
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    await setting.startInstances(...Array.from({ length: INSTANCES }, () => ({})));
    const arrange = await setting.enterWorkspace();
    known = (await arrange.anApplication(setting.workspace)).clientId;
  });
  afterAll(() => setting.close());

  it(
    'take the same time and get the same response',
    async () => {
      const stranger = unknown();
      const times = new Map<string, number[]>([known, stranger].map((clientId) => [clientId, []]));
      const said = new Set<string>();
      for (let n = 0; n < WARM_UP + REQUESTS; n += 1) {
        const url = `${setting.origins[n % setting.origins.length]}/oauth/token`;
        for (const clientId of n % 2 === 0 ? [known, stranger] : [stranger, known]) {
          const body = new URLSearchParams(form(clientId));
          const since = performance.now();
          const text = await (await fetch(url, { method: 'POST', body })).text();
          if (n >= WARM_UP) times.get(clientId)?.push((performance.now() - since) * 1_000);
          said.add(text.replace(/"requestId":"[^"]+"/, ''));
        }
      }
      expect([...said]).toEqual([expect.stringContaining('"code":"invalid_client"')]);
      expectAlike(times.get(known) ?? [], times.get(stranger) ?? []);
    },
    5 * MINUTE,
  );
});

/** In microseconds. */
function expectAlike(
  wrongSecret: readonly number[],
  unknownClient: readonly number[],
  limit = APART_MICROSECONDS,
): void {
  const apart = (share: number): number => quantile(wrongSecret, share) - quantile(unknownClient, share);
  const told = { wrongSecret: quantile(wrongSecret, 0.5), unknownClient: quantile(unknownClient, 0.5) };
  const figures = { ...told, apart: apart(0.5), fastestTenthApart: apart(0.1) };
  tell('microseconds', Object.fromEntries(Object.entries(figures).map(([name, n]) => [name, n.toFixed(0)])));
  expect(Math.abs(apart(0.5))).toBeLessThan(limit);
}

function quantile(times: readonly number[], share: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
}
