/** @quiet A busy machine reaches the limit of waiting for a connection. */
import { type DatabaseBehindProxy, openDatabaseBehindProxy } from '../support/database-behind-proxy';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { RoundTripCounter } from '../support/round-trips';
import { type TestApp, startAppOn } from '../support/start-app';

const CLIENTS = 32;
const REQUESTS = 10;

/** A request without a cached grant reads it from Postgres. With a slow Postgres all requests do so at once. */
describe('A grant that many requests need at once while Postgres is slow', () => {
  let setting: DatabaseBehindProxy;
  let counter: RoundTripCounter;
  let app: TestApp;
  let form: Record<string, string>;
  let superseded: string;
  let valid: string;
  beforeAll(async () => {
    setting = await openDatabaseBehindProxy();
    counter = await RoundTripCounter.before(setting.database.databaseUrl);
    const database = { ...setting.database, databaseUrl: counter.url };
    app = await startAppOn(database, { REDIS_URL: redisOfTheRun() });
    const { clientId, clientSecret } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    valid = await newToken();
    setting.proxy.slowDown(5);
  });
  afterAll(async () => {
    await app.stop();
    await counter.close();
    await setting.close();
  });

  // Issuing a token removes the cached grant.
  beforeEach(async () => ([superseded, valid] = [valid, await newToken()]));

  const newToken = async (): Promise<string> => (await app.client().requestToken(form)).body['access_token'] as string;

  it.each([
    ['a valid token', 200, () => valid],
    ['a superseded one, which no bucket is charged for', 401, () => superseded],
  ])('is read a few times per lease, not for every request: %s', async (_, status, token) => {
    const statuses: number[] = [];
    const one = async (): Promise<void> => {
      const client = app.client(token());
      for (let count = 0; count < REQUESTS; count += 1) {
        statuses.push((await client.get('/v1/inventory/categories')).status);
      }
    };
    const { roundTrips } = await counter.during(() => Promise.all(Array.from({ length: CLIENTS }, one)));
    expect(new Set(statuses)).toEqual(new Set([status]));
    expect(roundTrips).toBeLessThan(statuses.length / 4);
  });
});
