import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { clientKey } from '#libs/platform';
import type { Answer } from '../support/api-client';
import { type TestOperator, openOperator } from '../support/operator';
import { SPECIFIED_LIMITS, type TestApp, startApp, startReplica } from '../support/start-app';
import { TcpProxy } from '../support/tcp-proxy';
import { startTemporaryRedis } from '../support/temporary-redis';
import { type TemporaryRedis } from '../support/temporary-redis.port';

const ASSETS = '/v1/inventory/assets';
const REMEMBERED = 'remembered:1';
/** Assignments to the columns of an application. */
const NEW_SECRET = `secret_digest = decode(repeat('00', 32), 'hex')`;
const OVERLAP = `previous_secret_digest = secret_digest, previous_secret_expires_at = now() + interval '1 hour'`;

/** What Redis remembers of clients spares Postgres a look-up; what is true now decides, also where Redis was not told. */
describe('A client whose secret was right before', () => {
  let ofThisFile: TemporaryRedis;
  let redis: Redis;
  let app: TestApp;
  let replica: TestApp;
  let operator: TestOperator;
  let workspace: string;
  let proxy: TcpProxy;
  let behindProxy: TestApp;
  beforeAll(async () => {
    ofThisFile = await startTemporaryRedis();
    redis = new Redis(ofThisFile.url);
    // Of the tokens of a bucket none comes back while a test runs.
    const settings = { ...SPECIFIED_LIMITS, RATE_LIMIT_TOKEN: '1/10', REDIS_URL: ofThisFile.url };
    app = await startApp(settings);
    replica = await startReplica(app, settings);
    operator = await openOperator(app);
    const databaseUrl = new URL(app.database.databaseUrl);
    proxy = await TcpProxy.to(databaseUrl.hostname, Number(databaseUrl.port));
    databaseUrl.port = String(proxy.port);
    behindProxy = await startReplica(app, { ...settings, DATABASE_URL: databaseUrl.href });
    workspace = await app.arrange.aWorkspace();
  });
  afterEach(() => proxy.set('forward'));
  afterAll(async () => {
    await operator.close();
    await behindProxy.stop();
    await proxy.close();
    await replica.stop();
    await app.stop();
    redis.disconnect();
    await ofThisFile.stop();
  });

  type Form = Readonly<Record<string, string>>;
  const request = (form: Form, from = replica): Promise<Answer> => from.client().requestToken(form);
  /** Its form, its id, and the hash in which it is remembered once it had a token. */
  const aRememberedClient = async (): Promise<{ form: Form; clientId: string; key: string }> => {
    const { clientId, clientSecret } = await app.arrange.anApplication(workspace);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    expect(outcome(await request(form, app))).toBe('200 with 9 left');
    return { form, clientId, key: clientKey(clientId) };
  };
  const known = (key: string): Promise<string | null> => redis.hget(key, REMEMBERED);
  const isKnown = (key: string): Promise<number> => redis.hexists(key, REMEMBERED);
  const makeKnown = (key: string, text: string): Promise<number> => redis.hset(key, REMEMBERED, text);
  const outcome = (answer: Answer): string =>
    `${answer.status === 200 ? 200 : String(answer.body['code'])} with ${answer.headers.get('x-ratelimit-remaining')} left`;
  /** As if Redis had not been told, of what an operator did or of a Postgres that is back from before. */
  const changeUnheard = (clientId: string, assignments: string): Promise<void> =>
    app.arrange.change(workspace, `UPDATE application SET ${assignments} WHERE client_id = $1`, [clientId]);
  const bucketOf = (clientId: string): Promise<string | null> => redis.hget(clientKey(clientId), 'full:token');
  const reads = async (answer: Answer): Promise<number> =>
    (await app.client(answer.body['access_token'] as string).get(`${ASSETS}?pageSize=1`)).status;

  it('is charged once a request, whichever replica answers, and refused when nothing is left', async () => {
    const { form } = await aRememberedClient();
    const outcomes: string[] = [];
    for (let count = 0; count < 10; count += 1) outcomes.push(outcome(await request(form, count % 2 ? app : replica)));
    const passed = Array.from({ length: 9 }, (_, index) => `200 with ${8 - index} left`);
    expect(outcomes).toEqual([...passed, 'rate_limited with 0 left']);
  });

  it('has the bucket of its own', async () => {
    const { form, clientId } = await aRememberedClient();
    await operator.applications.setLimits(clientId, { token: { perMinute: 1, burst: 4 } });
    const answers: Answer[] = [];
    for (let count = 0; count < 4; count += 1) answers.push(await request(form));
    expect(answers.map(outcome)).toEqual([
      ...[2, 1, 0].map((left) => `200 with ${left} left`),
      'rate_limited with 0 left',
    ]);
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(['4', '4', '4', '4']);
  });

  it('is charged once for a scope that it does not have', async () => {
    const { form } = await aRememberedClient();
    expect(outcome(await request({ ...form, scope: 'admin' }))).toBe('invalid_scope with 8 left');
    expect(outcome(await request({ ...form, scope: 'inventory:read' }))).toBe('200 with 7 left');
  });

  it('is told from all who guess its secret, who are not charged to it', async () => {
    const { form, key } = await aRememberedClient();
    for (const client_secret of ['wrong', `${form['client_secret'] ?? ''}x`, ' ', '%']) {
      expect((await request({ ...form, client_secret })).body['code']).toBe('invalid_client');
      expect(await isKnown(key)).toBe(1);
    }
    expect(outcome(await request(form))).toBe('200 with 8 left');
  });

  it('is remembered for twice the lifetime of its token, anew with each', async () => {
    const { form, key } = await aRememberedClient();
    const lifetimes = 2 * app.settings.accessTokenTtlSeconds * 1_000;
    expect(await redis.pttl(key)).toBeGreaterThan(lifetimes - 60_000);
    await redis.pexpire(key, 5_000);
    expect(outcome(await request(form))).toBe('200 with 8 left');
    expect(await redis.pttl(key)).toBeGreaterThan(lifetimes - 60_000);
    expect(await redis.pttl(key)).toBeLessThanOrEqual(lifetimes);
  });

  it('is remembered without its secret', async () => {
    const { form, key } = await aRememberedClient();
    const secret = form['client_secret'] as string;
    expect(await known(key)).not.toContain(secret.slice(3, 20));
  });

  it.each([
    ['is disabled', 'disabled = true', 'invalid_client with null left'],
    ['has another secret', NEW_SECRET, 'invalid_client with null left'],
    ['has another secret for an hour beside the old one', `${NEW_SECRET}, ${OVERLAP}`, '200 with 8 left'],
    ['lost its scopes', `scopes = '{computers:read}'`, '200 with 8 left'],
    ['has a smaller bucket', `limits = '{"token": "1/2"}'`, '200 with 0 left'],
    ['has a larger bucket', `limits = '{"token": "1/30"}'`, '200 with 28 left'],
    ['has limits that nobody can read', `limits = '{"token": "many"}'`, '200 with 8 left'],
  ])('and that %s is held against what is true now, though Redis was not told', async (_, change, expected) => {
    const { form, clientId } = await aRememberedClient();
    await changeUnheard(clientId, change);
    const answer = await request(form);
    expect(outcome(answer)).toBe(expected);
    if (answer.status !== 200) return;
    const isReduced = change.startsWith('scopes');
    expect(answer.body['scope']).toBe(isReduced ? 'computers:read' : 'all:read all:write');
    expect(await reads(answer)).toBe(isReduced ? 403 : 200);
  });

  it('and that was given a scope gets it with the next token, though Redis was not told', async () => {
    const { form, clientId } = await aRememberedClient();
    await changeUnheard(clientId, `scopes = '{all:read,all:write,frameworks:read}'`);
    expect((await request({ ...form, scope: 'frameworks:read' })).body['scope']).toBe('frameworks:read');
  });

  it('keeps its token where it is refused another one', async () => {
    const { form, clientId } = await aRememberedClient();
    const issued = await request(form);
    await changeUnheard(clientId, NEW_SECRET);
    expect((await request(form)).body['code']).toBe('invalid_client');
    expect(await reads(issued)).toBe(200);
  });

  it('is no longer remembered as it was once an operator changed it, or as something it is not', async () => {
    const { clientId, form, key } = await aRememberedClient();
    const before = (await known(key)) as string;
    await operator.applications.setLimits(clientId, { token: { perMinute: 1, burst: 3 } });
    expect(await known(key)).toBeNull();
    expect(outcome(await request(form))).toBe('200 with 1 left');
    expect(await known(key)).not.toBe(before);
    await operator.applications.clearLimits(clientId);
    expect(await known(key)).toBeNull();
    await makeKnown(key, before);
    await changeUnheard(clientId, `scopes = '{all:read}'`);
    expect((await request(form)).body['scope']).toBe('all:read');
    expect(await known(key)).not.toBe(before);
  });

  it.each([
    ['its overlap is over', 1],
    ['Redis was not told of its rotation', null],
  ])('does not pay for requests with its old secret when %s', async (_, overlapSeconds) => {
    const { form, clientId, key } = await aRememberedClient();
    const before = (await known(key)) as string;
    const rotated = await operator.applications.rotateSecret(clientId, overlapSeconds);
    await makeKnown(key, before);
    await delay(1_100);
    for (let count = 0; count < 10; count += 1) {
      expect((await request(form)).body['code']).toBe('invalid_client');
      expect(await isKnown(key)).toBe(0);
    }
    await makeKnown(key, before);
    expect((await request(form)).body['code']).toBe('rate_limited');
    expect(await isKnown(key)).toBe(0);
    expect(outcome(await request({ ...form, client_secret: rotated?.clientSecret as string }))).toBe('200 with 8 left');
  });

  it.each([
    ['for a token', {}],
    ['for a scope that it does not have', { scope: 'admin' }],
  ])('is not charged for what an outage of Postgres refused it: %s', async (_, wish) => {
    const { form, key } = await aRememberedClient();
    const issued = await request(form);
    await proxy.set('refuse');
    for (let count = 0; count < 12; count += 1) {
      expect((await request({ ...form, ...wish }, behindProxy)).body['code']).toBe('service_unavailable');
    }
    await proxy.set('forward');
    expect(await reads(issued)).toBe(200);
    expect(await isKnown(key)).toBe(1);
    expect(outcome(await request(form))).toBe('200 with 7 left');
  });

  it('finds all but one of its tokens at one replica while another is cut off from Postgres, and then that one too', async () => {
    const { form, clientId } = await aRememberedClient();
    // The connections there are open.
    expect(outcome(await request(form, behindProxy))).toBe('200 with 8 left');
    const before = await bucketOf(clientId);
    await proxy.set('blackhole');
    const inVain = Array.from({ length: 12 }, () => request(form, behindProxy));
    while ((await bucketOf(clientId)) === before) await delay(20);
    expect(outcome(await request(form))).toBe('200 with 6 left');
    const failed = await Promise.all(inVain);
    expect(new Set(failed.map(outcome))).toEqual(new Set(['service_unavailable with null left']));
    await proxy.set('forward');
    expect(outcome(await request(form))).toBe('200 with 6 left');
  });

  it('leaves nothing in Redis that is given back to a bucket it has forgotten', async () => {
    const { form, clientId } = await aRememberedClient();
    const before = await bucketOf(clientId);
    await proxy.set('blackhole');
    const inVain = request(form, behindProxy);
    while ((await bucketOf(clientId)) === before) await delay(20);
    await redis.del(clientKey(clientId));
    expect((await inVain).status).toBe(503);
    expect(await redis.exists(clientKey(clientId))).toBe(0);
  });

  it('is not refused for connections to Postgres that were lost without a word', async () => {
    const { form } = await aRememberedClient();
    // At once, each on a connection of its own.
    const others = [await aRememberedClient(), await aRememberedClient(), await aRememberedClient()];
    await Promise.all(others.map((other) => request(other.form, behindProxy)));
    proxy.forget();
    for (const left of [8, 7, 6, 5, 4]) expect(outcome(await request(form, behindProxy))).toBe(`200 with ${left} left`);
  });

  it('is charged once, and has one token, where that was begun and the connection lost before Postgres said so', async () => {
    const { form, clientId } = await aRememberedClient();
    const before = await request(form, behindProxy);
    // A second charge of this bucket would be refused, though the token before has ended.
    await changeUnheard(clientId, `limits = '{"token": "1/1"}'`);
    await redis.hdel(clientKey(clientId), 'full:token');
    expect(outcome(await request(form))).toBe('200 with 0 left');
    await redis.hdel(clientKey(clientId), 'full:token');
    proxy.forgetAnswers();
    const after = await request(form, behindProxy);
    expect(outcome(after)).toBe('200 with 0 left');
    expect([await reads(before), await reads(after)]).toEqual([401, 200]);
  });

  it('is told what it asks for wrongly, not that it asks too often, where its bucket holds one token', async () => {
    const { form, clientId } = await aRememberedClient();
    await operator.applications.setLimits(clientId, { token: { perMinute: 1, burst: 1 } });
    const full = (): Promise<number> => redis.hdel(clientKey(clientId), 'full:token');
    await full();
    expect(outcome(await request(form))).toBe('200 with 0 left');
    for (let count = 0; count < 10; count += 1) {
      await full();
      expect(outcome(await request({ ...form, scope: 'admin' }))).toBe('invalid_scope with 0 left');
    }
  });

  it.each(['much', 'nan', '-nan', '-5'])(
    'is remembered, and its bucket counted, where Redis held %s of it',
    async (other) => {
      const { form, clientId, key } = await aRememberedClient();
      await redis.hdel(key, REMEMBERED);
      await redis.hset(clientKey(clientId), 'full:token', other);
      for (const left of [9, 8, 7])
        expect(outcome(await request(form, left === 8 ? app : replica))).toBe(`200 with ${left} left`);
      expect(await isKnown(key)).toBe(1);
    },
  );

  /** Changes the grant in what is remembered. */
  const forge = async (key: string, members: object): Promise<void> => {
    const [digest = '', own = '', grant = ''] = ((await known(key)) as string).split(' ');
    await makeKnown(key, [digest, own, JSON.stringify({ ...(JSON.parse(grant) as object), ...members })].join(' '));
  };

  it.each([
    { generation: '99999999999999999999' },
    { generation: '9007199254740980' },
    { limits: { token: null } },
    { limits: { token: { perMinute: 0, burst: 1 } } },
    { limits: { token: { perMinute: 1, burst: 0.5 } } },
    { limits: { token: { perMinute: 1_000, burst: 1_000 } } },
    { limits: { read: 'many' } },
    { scopes: [1, null] },
  ])('gets tokens and finds its own bucket whatever Redis says of it: %j', async (members) => {
    const { form, key } = await aRememberedClient();
    await forge(key, members);
    const answers: Answer[] = [];
    for (let count = 0; count < 3; count += 1) answers.push(await request(form));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(['10', '10', '10']);
    // What was charged to what Redis made up is not known.
    const left = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect([
      [8, 7, 6],
      [7, 6, 5],
    ]).toContainEqual(left);
    await redis.flushall();
    expect((await request(form)).status).toBe(200);
    expect((await request(form)).status).toBe(200);
  });

  it.each([
    ['nothing', () => ''],
    ['one word', (known: string) => known.split(' ')[0] ?? ''],
    ['no grant', (known: string) => known.replace(/\{.*/, 'nobody')],
    ['half of it', (known: string) => known.slice(0, known.length / 2)],
    ['a grant without scopes', (known: string) => known.replace('"scopes"', '"scope"')],
    ['an id that is none', (known: string) => known.replace('"id":"', '"id":"x')],
    ['another client', (known: string) => known.replace('"clientId":"ci_', '"clientId":"ci_0')],
    ['a limit that is none', (known: string) => known.replace(' ', ' many')],
    ['a limit that it does not have', (known: string) => known.replace(' ', ' 1000000/1000000')],
  ])('gets its token where %s is remembered of it', async (_, damage) => {
    const { form, key } = await aRememberedClient();
    await makeKnown(key, damage((await known(key)) as string));
    const [first, second] = [await request(form), await request(form)].map(outcome);
    expect([
      ['200 with 8 left', '200 with 7 left'],
      ['200 with 7 left', '200 with 6 left'],
    ]).toContainEqual([first, second]);
  });

  const idOf = async (key: string): Promise<string> => /"id":"[^"]+"/.exec((await known(key)) as string)?.[0] ?? '';

  it('is not mistaken for another one, whatever Redis says', async () => {
    const [mine, other] = [await aRememberedClient(), await aRememberedClient()];
    const [digest = ''] = ((await known(mine.key)) as string).split(' ');
    const theirText = (await known(other.key)) as string;
    await makeKnown(mine.key, theirText.replace(/^\S+/, digest));
    const answer = await request(mine.form);
    const [, claims = ''] = String(answer.body['access_token']).split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ client_id: mine.clientId });
    const theirs = await request(other.form);
    expect(outcome(theirs)).toBe('200 with 8 left');
    await makeKnown(other.key, theirText.replace(/^\S+/, digest).replace(/"id":"[^"]+"/, await idOf(mine.key)));
    const secret = { client_secret: mine.form['client_secret'] as string };
    expect((await request({ ...other.form, ...secret })).body['code']).toBe('invalid_client');
    expect(await reads(theirs)).toBe(200);
    await makeKnown(mine.key, theirText.replace(/^\S+/, digest));
    const bucket = await bucketOf(other.clientId);
    await proxy.set('refuse');
    expect((await request(mine.form, behindProxy)).status).toBe(503);
    expect(await bucketOf(other.clientId)).toBe(bucket);
  });

  // In a cluster the keys of some of these would not stand on one node.
  it.each(['}x{', '{}', 'ci_', 'ci_0', '*', 'a'.repeat(200), 'é'])(
    'is not looked for by what can be no id: %s',
    async (client_id) => {
      const { form, key } = await aRememberedClient();
      const keys: string[] = [];
      const monitor = await redis.monitor();
      monitor.on('monitor', (_time: string, words: string[]) => keys.push(...words));
      expect((await request({ ...form, client_id })).body['code']).toBe('invalid_client');
      expect((await request(form)).status).toBe(200);
      await redis.get('heard');
      while (!keys.includes('heard')) await delay(20);
      monitor.disconnect();
      const looked = keys.filter((key) => /^client:\{(?!failure |source )/.test(key));
      expect([...new Set(looked)]).toEqual([clientKey('-'), key]);
    },
  );
});
