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

  it('are stored for each trust, however many trust one issuer', async () => {
    const { clientId } = await app.arrange.anApplication(await app.arrange.aWorkspace());
    await app.database.admin.query(
      `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
       SELECT workspace_id, client_id, 'https://popular.example', n::text
         FROM application, generate_series(1, 5000) AS n WHERE client_id = $1`,
      [clientId],
    );
    // As large as a set of GitHub.
    const random = (): string =>
      Array.from({ length: 342 }, () => Math.floor(Math.random() * 36).toString(36)).join('');
    const keys = ['1', '2', '3', '4'].map((kid) => ({ kid, algorithms: ['RS256'], jwk: { kty: 'RSA', n: random() } }));

    await asApi(app, (database) =>
      new TrustedKeyWatch(database, { fetch: () => Promise.resolve(keys) }, new Metrics()).round(),
    );

    const states = `SELECT state, keys, count(*)::text FROM application_trust WHERE client_id = $1 GROUP BY 1, 2`;
    const { rows } = await app.database.admin.query(states, [clientId]);
    expect(rows).toEqual([{ state: 'READY', keys, count: '5000' }]);
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
