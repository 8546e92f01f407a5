import { setTimeout as delay } from 'node:timers/promises';
import { type Arrangement } from '../support/arrangement';
import { TcpProxy } from '../support/tcp-proxy';
import { startTemporaryRedis } from '../support/temporary-redis';
import { ClientApplication, NO_LIMITS, counted } from './client-application';
import { FaultSetting } from './fault-setting';
import { MINUTE, sized, tell } from './sizes';

const ROUNDS = sized({ short: 10, long: 2_000 });
const ROUNDS_WITHOUT_REDIS = sized({ short: 1, long: 10 });
const INTERRUPTIONS_MS = sized({ short: 3_000, long: 60_000 });
const APPLICATIONS = 8;
const TOKENS_AT_ONCE = sized({ short: 100, long: 500 });

const OLD = 'token_superseded';

describe('A new token on three instances', () => {
  let setting: FaultSetting;
  let arrange: Arrangement;
  /** The first instance's connection to Redis. */
  let path: TcpProxy;
  beforeAll(async () => {
    setting = await FaultSetting.open({ redis: await startTemporaryRedis() });
    const url = new URL(setting.redis.url);
    path = await TcpProxy.to(url.hostname, Number(url.port));
    url.port = String(path.port);
    await setting.startInstances({ REDIS_URL: url.href }, {}, {});
    arrange = await setting.enterWorkspace();
  });
  afterAll(async () => {
    await setting.close();
    await path.close();
  });

  // The circuit breaker stays open for a second after a failure. Grants are cached again only after that.
  const restIsOver = (): Promise<void> => delay(1_200);
  const origin = (place: number): string => setting.origins[place % setting.origins.length] as string;
  const all = (word: string): string[] => setting.origins.map(() => word);
  const applications = async (count: number): Promise<ClientApplication[]> => {
    const some: ClientApplication[] = [];
    while (some.length < count) some.push(await ClientApplication.arrange(setting, arrange, NO_LIMITS));
    return some;
  };

  /** Returns wrong responses to the old and the new token, each asked at the earliest moment. */
  const supersede = async (application: ClientApplication, old: string, place: number) => {
    // Instances asked about the old token while it ends may cache the old grant, or be about to.
    const readers = Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (other) => {
        await delay(Math.random() * 10);
        return application.read(origin(other), old);
      }),
    );
    const token = await application.token(origin(place));
    const refused = await application.everywhere(setting.origins, old);
    const accepted = await application.everywhere(setting.origins, token);
    const during = (await readers).map(({ word }) => word);
    const faults = [
      ...refused.filter((word) => word !== OLD).map((word) => `the old token: ${word}`),
      ...accepted.filter((word) => word !== 'ok').map((word) => `the new token: ${word}`),
      ...during.filter((word) => word !== 'ok' && word !== OLD).map((word) => `while it was issued: ${word}`),
    ];
    return { token, faults };
  };
  const supersedeOften = async (
    application: ClientApplication,
    isOver: (rounds: number) => boolean,
    forgetCopies: () => Promise<void> = () => Promise.resolve(),
  ) => {
    const faults: string[] = [];
    let token = await application.token(origin(0));
    let rounds = 0;
    for (; !isOver(rounds); rounds += 1) {
      if ((await application.everywhere(setting.origins, token)).join() !== all('ok').join())
        faults.push('was refused');
      if (rounds % 3 > 0) await forgetCopies();
      const next = await supersede(application, token, rounds);
      faults.push(...next.faults.map((fault) => `round ${rounds}: ${fault}`));
      token = next.token;
    }
    return { rounds, faults };
  };

  it(
    'ends the previous one everywhere, from the first request after it was received',
    async () => {
      const [application] = await applications(1);
      const done = await supersedeOften(
        application as ClientApplication,
        (rounds) => rounds === ROUNDS,
        () => setting.redis.flush(),
      );
      tell('new tokens', { rounds: done.rounds });
      expect(done.faults).toEqual([]);
    },
    sized({ short: 3, long: 5 }) * MINUTE,
  );

  it('is the only valid one when many are requested at once', async () => {
    const [application] = (await applications(1)) as [ClientApplication];
    const since = performance.now();
    const issued = await Promise.all(
      Array.from({ length: TOKENS_AT_ONCE }, (_, place) => application.issue(origin(place))),
    );
    tell('tokens at once', { milliseconds: Math.round(performance.now() - since), ...counted(issued) });
    // They wait for one row. The last ones may get no connection in time, and a 503.
    expect(issued.filter(({ word }) => word !== 'ok' && word !== 'service_unavailable')).toEqual([]);
    const valid: string[][] = [];
    for (const { accessToken } of issued) {
      if (accessToken === null) continue;
      const words = await application.everywhere(setting.origins, accessToken);
      if (words.join() !== all(OLD).join()) valid.push(words);
    }
    expect(valid).toEqual([all('ok')]);
  });

  it(
    'ends the previous one while Redis comes and goes, without a failed request',
    async () => {
      const until = Date.now() + INTERRUPTIONS_MS;
      const isOver = (): boolean => Date.now() > until;
      const work = Promise.all((await applications(APPLICATIONS)).map((one) => supersedeOften(one, isOver)));
      let interruptions = 0;
      for (; !isOver(); interruptions += 1) {
        // About the maximum wait for Redis: some instances give up on it, others still get a reply.
        await setting.redis.freeze();
        await delay(20 + Math.random() * 80);
        await setting.redis.thaw();
        await delay(Math.random() * 400);
      }
      const done = await work;
      await restIsOver();
      tell('new tokens while Redis comes and goes', {
        interruptions,
        rounds: done.reduce((sum, { rounds }) => sum + rounds, 0),
      });
      expect(done.flatMap(({ faults }) => faults)).toEqual([]);
    },
    INTERRUPTIONS_MS + 3 * MINUTE,
  );

  it.each([
    [
      'the instance that issues it has lost Redis, and the others keep copies',
      { lose: () => path.set('blackhole'), findAgain: () => path.set('forward').then(restIsOver), place: 0 },
    ],
    [
      'all instances have lost Redis',
      { lose: () => setting.redis.end('SIGKILL'), findAgain: () => setting.redis.startAgain(), place: 1 },
    ],
  ])('ends the previous one everywhere when %s', async (_name, { lose, findAgain, place }) => {
    const some = await applications(APPLICATIONS);
    const tokens = await Promise.all(some.map((application) => application.token(origin(1))));
    for (const [n, application] of some.entries()) {
      expect(await application.everywhere(setting.origins, tokens[n] as string)).toEqual(all('ok'));
    }
    await lose();
    const faults = await Promise.all(
      some.map(async (application, n) => {
        const found: string[] = [];
        for (let round = 0; round < ROUNDS_WITHOUT_REDIS; round += 1) {
          const next = await supersede(application, tokens[n] as string, place * (n + round));
          found.push(...next.faults);
          tokens[n] = next.token;
        }
        return found;
      }),
    );
    await findAgain();
    expect(faults.flat()).toEqual([]);
  });
});
