import { setTimeout as delay } from 'node:timers/promises';
import { RedisSentinels } from '../support/redis-sentinels';
import { type TestApp, startApp, startReplica } from '../support/start-app';

/** What a replica of the API may take to hear of it and to connect anew. */
const HEARD_MS = 2_000;
const ROUNDS = 3;

describe('A replica of the API whose Redis is replaced as planned, and would go on answering', () => {
  let sentinels: RedisSentinels;
  let api: TestApp;
  let early: TestApp;
  let late: TestApp | undefined;
  beforeAll(async () => {
    [api, sentinels] = await Promise.all([startApp(), RedisSentinels.start({ redis: 'secret', sentinel: 'other' })]);
    early = await startReplica(api, { REDIS_URL: sentinels.url });
  });
  afterAll(async () => {
    await Promise.all([early?.stop(), late?.stop()]);
    await Promise.all([api?.stop(), sentinels?.stop()]);
  });

  it('uses the new one as soon as it hears of it, and so takes no token that another replica has superseded', async () => {
    const printed = jest.spyOn(console, 'error').mockImplementation();
    const { clientId, clientSecret } = await api.arrange.anApplication(await api.arrange.aWorkspace());
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const issueBy = async (app: TestApp): Promise<string> =>
      (await app.client().requestToken(form)).body['access_token'] as string;
    const statusOf = async (app: TestApp, token: string): Promise<number> =>
      (await app.client(token).get('/v1/inventory/assets?pageSize=1')).status;
    let token = await issueBy(early);
    expect(await statusOf(early, token)).toBe(200);

    await sentinels.failOver();
    late = await startReplica(api, { REDIS_URL: sentinels.url });
    await delay(HEARD_MS);
    const answers: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // Both have a copy of what the old token may do.
      const before = [await statusOf(early, token), await statusOf(late, token)];
      const old = token;
      token = await issueBy(late);
      answers.push([before, await statusOf(early, old), await statusOf(early, token)]);
    }
    expect(answers).toEqual(Array.from({ length: ROUNDS }, () => [[200, 200], 401, 200]));
    // One of the sentinels that are named is not there, of which the client would write to the console.
    expect(printed).not.toHaveBeenCalled();
  });
});
