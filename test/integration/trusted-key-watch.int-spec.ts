import { Metrics } from '#libs/platform/observability';
import { KeySetUnavailable } from '../../libs/auth/src/domain/trusted-issuer';
import { TrustedKeyWatch } from '../../libs/auth/src/typeorm/trusted-key-watch';
import { asApi } from '../support/as-api';
import { type TestApp, startApp } from '../support/start-app';

/** The lines of the metric after a round. */
const agesOf = (app: TestApp): Promise<string[]> =>
  asApi(app, async (database) => {
    const metrics = new Metrics();
    const noIssuer = { fetch: () => Promise.reject(new Error('None is due.')) };
    await new TrustedKeyWatch(database, noIssuer, metrics).round();
    const exposed = await metrics.expose();
    return exposed.split('\n').filter((line) => line.startsWith('compliance_trusted_keys_age_seconds{'));
  });

describe('Key sets of trusted issuers', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  it('show the ages of those nearest to their alert, so fetched ones never hide a given one', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    const insert = `INSERT INTO application_trust
        (workspace_id, client_id, issuer, subject, state, given, keys_at, attempted_at)
      SELECT workspace_id, client_id, 'https://i.example', n::text, 'READY', $2, now() - $3::interval, now()
        FROM application, generate_series(1, $4::integer) AS n WHERE client_id = $1`;
    for (const [isGiven, age, count] of [
      [false, '1 minute', 499],
      [true, '88 days', 1],
      [true, '90 days 1 second', 1],
      [false, '25 hours', 1],
    ])
      await app.database.admin.query(insert, [clientId, isGiven, age, count]);

    const lines = await agesOf(app);

    const days = (kind: string) =>
      lines.filter((line) => line.includes(`kind="${kind}"`)).map((line) => Number(line.split(' ').at(-1)) / 86_400);
    expect(lines).toHaveLength(500);
    expect(days('given').map(Math.floor)).toEqual([90]);
    expect(Math.max(...days('fetched'))).toBeGreaterThan(1);
  });

  it('show the age of an old one, however many another workspace has', async () => {
    const insert = `INSERT INTO application_trust (workspace_id, client_id, issuer, subject, state, keys_at, attempted_at)
      SELECT workspace_id, client_id, 'https://i.example', n::text, 'READY', now() - $2::interval, now()
        FROM application, generate_series(1, $3::integer) AS n WHERE client_id = $1`;
    const { clientId: many } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(insert, [many, '26 hours', 600]);
    const { clientId: one } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(insert, [one, '25 hours', 1]);

    const lines = await agesOf(app);

    expect(lines.filter((line) => line.includes(one))).toHaveLength(1);
    expect(lines).toHaveLength(500);
  });

  it('do not keep the process from ending, however slow an issuer is', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(
      `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
       SELECT workspace_id, client_id, 'https://slow.example', 's' FROM application WHERE client_id = $1`,
      [clientId],
    );

    await asApi(app, async (database) => {
      let asked: () => void = () => undefined;
      const isAsked = new Promise<void>((resolve) => (asked = resolve));
      const slow = { fetch: () => new Promise<never>(() => asked()) };
      const watch = new TrustedKeyWatch(database, slow, new Metrics());
      void watch.round();
      await isAsked;

      await watch.beforeApplicationShutdown();
    });
  });

  it('are stored for few trusts in one statement, however many trust one issuer', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(
      `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
       SELECT workspace_id, client_id, 'https://popular.example', n::text
         FROM application, generate_series(1, 450) AS n WHERE client_id = $1`,
      [clientId],
    );
    const key = { kid: 'k', algorithms: ['ES256'], jwk: { kty: 'EC' } };

    const statements = await asApi(app, async (database) => {
      const runs = jest.spyOn(database, 'run');
      await new TrustedKeyWatch(database, { fetch: () => Promise.resolve([key]) }, new Metrics()).round();
      return runs.mock.calls.flatMap(([, bound]) => bound);
    });

    const stored = statements.filter(({ text }) => text.includes('settle_trusted_issuer'));
    const counts = stored.map(({ values }) => String(values[0]).split(',').length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);
    const states = `SELECT state, keys, count(*)::text FROM application_trust WHERE client_id = $1 GROUP BY 1, 2`;
    const { rows } = await app.database.admin.query(states, [clientId]);
    expect(rows).toEqual([{ state: 'READY', keys: [key], count: '450' }]);
  });

  it('are fetched for minutes at most in one round, however many slow issuers are due', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(
      `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
       SELECT workspace_id, client_id, 'https://slow.example/' || n, 's'
         FROM application, generate_series(1, 600) AS n WHERE client_id = $1`,
      [clientId],
    );
    const now = performance.now.bind(performance);
    let waitedMs = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + waitedMs);
    const slow = {
      fetch: () => {
        // Eight are asked at once, and each is as slow as it may be.
        waitedMs += 10_000 / 8;
        return Promise.reject(new KeySetUnavailable('late'));
      },
    };

    await asApi(app, (database) => new TrustedKeyWatch(database, slow, new Metrics()).round());

    jest.restoreAllMocks();
    expect(waitedMs / 60_000).toBeLessThan(6);
  });
});
