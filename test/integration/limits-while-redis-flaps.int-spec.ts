import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { Charge, RateLimit } from '#libs/kernel';
import type { RedisServer, Settings } from '#libs/platform';
import { Circuit, RedisAway } from '../../libs/platform/src/redis/circuit';
import type { RedisClient } from '../../libs/platform/src/redis/redis-client';
import { TokenBuckets } from '../../libs/platform/src/throttling/token-buckets';
import { redisOfTheRun } from '../support/redis-of-the-run';

const SECOND = 1_000_000;
const RUNS = 300;
type Values = readonly (string | number)[];

/** Replicas around a real Redis, each with its circuit, at a time that the test tells; the way to Redis is cut at will. */
class Site {
  /** Microseconds. */
  now = 1_780_000_000 * SECOND;
  private isCut = false;
  private underWay = 0;
  readonly replicas: readonly TokenBuckets[];
  /** Of each replica, what it does next by itself, and when. */
  private readonly probes: ({ readonly at: number; readonly probe: () => void } | null)[] = [];

  constructor(
    private readonly redis: Redis,
    replicas: number,
  ) {
    this.replicas = Array.from({ length: replicas }, (_, place) => this.replica({ replicas } as Settings, place));
  }

  /** A probe that is due goes before; those of the other replicas come later, as on machines that are busy. */
  async charge(at: number, owner: string, limit: RateLimit): Promise<Charge> {
    const place = at % this.replicas.length;
    const next = this.probes[place];
    if (next && next.at <= this.now) {
      this.probes[place] = null;
      next.probe();
      await this.quiet();
    }
    const charge = await (this.replicas[place] as TokenBuckets).charge(owner, 'read', limit);
    await this.quiet();
    return charge;
  }

  private async quiet(): Promise<void> {
    do await turn();
    while (this.underWay > 0);
  }

  /** Every replica notices that Redis is lost: it has other clients as well. */
  async cut(isCut: boolean): Promise<void> {
    this.isCut = isCut;
    if (isCut)
      for (const place of this.replicas.keys()) await this.charge(place, 'another client', { perMinute: 1, burst: 1 });
  }

  private replica(settings: Settings, place: number): TokenBuckets {
    const listeners: (() => void)[] = [];
    const watcher = {
      opened: () => undefined,
      closed: () => listeners.forEach((listener) => listener()),
      unansweredAgain: () => undefined,
    };
    const circuit = new Circuit(
      watcher,
      () => this.send(() => this.redis.ping()),
      (probe) => (this.probes[place] = { at: this.now + SECOND, probe }),
    );
    const client = {
      evalsha: (digest: string, count: number, ...values: Values) =>
        circuit.run(() => this.send(() => this.redis.evalsha(digest, count, ...this.timed(values)))),
      eval: (script: string, count: number, ...values: Values) =>
        circuit.run(() => this.send(() => this.redis.eval(script, count, ...this.timed(values)))),
    } as unknown as RedisClient;
    const server = {
      isConfigured: true,
      onReturn: (listener: () => void) => void listeners.push(listener),
      attempt: (work: (redis: RedisClient) => Promise<unknown>) =>
        work(client).catch((error: unknown) => {
          if (!(error instanceof RedisAway)) throw error;
        }),
    };
    return new TokenBuckets(server as unknown as RedisServer, settings);
  }

  /** One key, and then the time. */
  private timed([key = '', , ...others]: Values): Values {
    return [key, this.now, ...others];
  }

  private async send(command: () => Promise<unknown>): Promise<unknown> {
    if (this.isCut) throw new Error('Connection is closed.');
    this.underWay += 1;
    try {
      return await command();
    } finally {
      this.underWay -= 1;
    }
  }
}

describe('Limits while Redis comes and goes', () => {
  let redis: Redis;
  let site: Site;
  beforeAll(() => {
    redis = new Redis(redisOfTheRun());
  });
  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => site.now / 1_000);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => redis.quit());

  const READ = { perMinute: 50, burst: 100 };
  const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 600 }), burst: fc.integer({ min: 1, max: 12 }) });
  const places = fc.integer({ min: 0, max: 2 });
  const steps = fc.array(
    fc.record({
      place: places,
      retriedAt: places,
      pause: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 4 * SECOND })),
      // What happens while it is waited, in this order and at these shares of the wait: another client comes, or the
      // way to Redis is cut or mended.
      meanwhile: fc.array(
        fc.record({ at: fc.integer({ min: 0, max: 1_000 }), cut: fc.boolean(), comesTo: fc.option(places) }),
        { maxLength: 4 },
      ),
      cut: fc.option(fc.boolean(), { freq: 3 }),
    }),
    { minLength: 10, maxLength: 60 },
  );

  it.each([
    ['one replica', 1],
    ['three replicas', 3],
  ])('let pass who waits exactly as long as was said, at %s', async (_, replicas) => {
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limit, sequence) => {
        site = new Site(redis, replicas);
        const [owner, other] = [randomUUID(), randomUUID()];
        for (const { place, retriedAt, pause, meanwhile, cut } of sequence) {
          site.now += pause;
          if (cut !== null) await site.cut(cut);
          const charge = await site.charge(place, owner, limit);
          if (charge.allowed) continue;
          const end = site.now + charge.retryAfterSeconds * SECOND;
          const wait = end - site.now;
          for (const { at, cut: cutThen, comesTo } of [...meanwhile].sort((a, b) => a.at - b.at)) {
            site.now = end - Math.floor((wait * (1_000 - at)) / 1_000);
            await site.cut(cutThen);
            if (comesTo !== null) await site.charge(comesTo, other, limit);
          }
          site.now = end;
          expect(await site.charge(retriedAt, owner, limit)).toMatchObject({ allowed: true });
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('let pass who waits for as long as Redis says that is just back, at a replica that has lost it again', async () => {
    site = new Site(redis, 3);
    const [owner, limit] = [randomUUID(), { perMinute: 60, burst: 3 }];
    await site.cut(true);
    while ((await site.charge(0, owner, limit)).allowed);
    await site.cut(false);
    site.now += SECOND;
    let charge = await site.charge(1, owner, limit);
    while (charge.allowed) charge = await site.charge(1, owner, limit);
    await site.cut(true);
    site.now += charge.retryAfterSeconds * SECOND;
    expect((await site.charge(0, owner, limit)).allowed).toBe(true);
  });

  it('hand out no second burst, however often Redis is lost for a moment', async () => {
    site = new Site(redis, 1);
    const owner = randomUUID();
    let passed = 0;
    for (let request = 0; request < 300; request += 1) {
      await site.cut(request % 30 > 20);
      site.now += 100_000;
      if ((await site.charge(0, owner, READ)).allowed) passed += 1;
    }
    // Thirty seconds, in which 25 came back; and each time that it is back there is one token, which may have been promised.
    expect(passed).toBeGreaterThanOrEqual(125);
    expect(passed).toBeLessThanOrEqual(125 + 10);
  });
});
