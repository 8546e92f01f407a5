import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metrics } from '#libs/platform/observability';
import { readIssuerKeys } from '../../libs/auth/src/jwt/public-jwks';
import { IssuerKeysJwt } from '../../libs/auth/src/jwt/issuer-keys.jwt';
import { GrantRepositoryTypeorm } from '../../libs/auth/src/typeorm/grant-repository.typeorm';
import { TrustedKeyWatch } from '../../libs/auth/src/typeorm/trusted-key-watch';
import { ComplianceClient } from '#libs/client';
import { runAdminOn } from '../support/admin-command';
import type { ApiResponse } from '../support/api-client';
import { asApi } from '../support/as-api';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { StandInIssuer } from '../support/stand-in-issuer';
import { type TestApp, UNLIMITED, startApp, startInstance } from '../support/start-app';
import { someoneWaits } from '../support/waiting-sessions';

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const GITHUB = 'repo:acme/app:ref:refs/heads/main';
const seconds = (): number => Math.floor(Date.now() / 1_000);

interface Trust {
  readonly id: string;
  readonly state: string;
  readonly fetchedAt: string | null;
}

describe('POST /oauth/token with the token of a trusted issuer', () => {
  let app: TestApp;
  let other: TestApp;
  let issuer: StandInIssuer;
  let workspace: string;
  let clientId: string;
  let directory: string;
  beforeAll(async () => {
    app = await startApp({ ...UNLIMITED, REDIS_URL: redisOfTheRun() });
    other = await startInstance(app, { ...UNLIMITED, REDIS_URL: redisOfTheRun(), BASE_URL: app.settings.baseUrl });
    workspace = await app.arrange.aWorkspace();
    directory = mkdtempSync(join(tmpdir(), 'workload-'));
  });
  beforeEach(async () => {
    issuer = await StandInIssuer.start();
    ({ clientId } = await app.arrange.anApplication(workspace, ['inventory:read']));
  });
  afterEach(() => issuer.stop());
  afterAll(async () => {
    rmSync(directory, { recursive: true });
    await other.stop();
    await app.stop();
  });

  const run = (words: readonly string[], environment: Record<string, string> = {}) =>
    runAdminOn(app.database, ['applications', ...words], {
      REDIS_URL: redisOfTheRun(),
      BASE_URL: app.settings.baseUrl,
      ...environment,
    });
  const trusts = async (...words: string[]): Promise<Trust[]> => {
    const { exitCode, stdout, stderr } = await run(['trust', ...words, '--json']);
    expect([exitCode, stderr]).toEqual([0, '']);
    return (JSON.parse(stdout) as { items: Trust[] }).items;
  };
  const trust = (subject: string, ...words: string[]) =>
    trusts('add', clientId, '--issuer', issuer.url, '--subject', subject, '--insecure', ...words);
  const request = (token: string, changes: object = {}, instance = app): Promise<ApiResponse> => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_assertion_type: TYPE };
    const sent = Object.entries({ ...form, client_assertion: token, ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    return instance.client().requestToken(Object.fromEntries(sent) as Record<string, string>);
  };
  const claims = (changes: object = {}) => ({ sub: GITHUB, aud: app.settings.baseUrl, ...changes });
  /** One round of background work, and the metrics after it. */
  const look = (): Promise<string> =>
    asApi(app, async (database) => {
      const exposed = new Metrics();
      await new TrustedKeyWatch(database, new IssuerKeysJwt(app.settings), exposed).round();
      return exposed.expose();
    });
  const sql = (text: string, values: unknown[] = []) => app.database.admin.query(text, values);
  const keysFile = (keys: unknown): string => {
    const path = join(directory, 'jwks.json');
    writeFileSync(path, JSON.stringify({ keys }));
    return path;
  };

  it.each<[string, string, string, (base: string) => object, object]>([
    ['GitHub Actions', 'repo:acme/app:*', 'RS256', () => ({ repository: 'acme/app', jti: 'the-same' }), {}],
    ['GitLab', GITHUB, 'RS256', () => ({ project_path: 'acme/app', exp: seconds() + 3_600 }), {}],
    [
      'Kubernetes',
      GITHUB,
      'RS256',
      (base) => ({ aud: [base], 'kubernetes.io': {}, exp: seconds() + 7_200 }),
      { typ: undefined },
    ],
    ['Google', GITHUB, 'RS256', () => ({ email: 'a@acme.example', azp: GITHUB }), {}],
    ['a cluster with ES256', GITHUB, 'ES256', (base) => ({ aud: [base], jti: undefined }), { typ: undefined }],
  ])('gives a token for one of %s, as often as a step is repeated', async (_, subject, algorithm, shape, header) => {
    await issuer.rotate(algorithm, { drop: true });
    await trust(subject);
    const before = issuer.asked.length;
    const token = await issuer.token(claims(shape(app.settings.baseUrl)), header);
    for (const instance of [app, other, app]) {
      const response = await request(token, {}, instance);
      expect([response.status, response.body['scope']]).toEqual([200, 'inventory:read']);
    }
    expect((await request(token, { client_secret: '' })).status).toBe(200);
    expect(issuer.asked).toHaveLength(before);
  });

  it('serves our own client', async () => {
    await trust(GITHUB);
    const api = new ComplianceClient({ baseUrl: app.origin, clientId, assertion: () => issuer.token(claims()) });
    expect((await api.me()).body.application.clientId).toBe(clientId);
  });

  it.each<[string, object, object]>([
    ['an issuer with U+0000', { iss: 'https://issuer.example/\u0000' }, {}],
    ['an issuer that is half a character', { iss: '\ud800' }, {}],
    ['an issuer that is an array', { iss: ['a'] }, {}],
    ['a client with U+0000', {}, { client_id: 'ci_\u0000' }],
    ['a client that is long', {}, { client_id: 'x'.repeat(200) }],
  ])('is refused with %s', async (_, changes, form) => {
    expect((await request(await issuer.token(claims(changes)), form)).status).toBe(401);
  });

  it('is refused at once for a disabled application, and at every one that trusts it not', async () => {
    await trust(GITHUB);
    const { clientId: neighbour } = await app.arrange.anApplication(workspace, ['inventory:read']);
    const token = await issuer.token(claims());
    const reasonOf = ({ body }: ApiResponse) =>
      app.logLines.find((line) => line['requestId'] === body['requestId'] && 'reason' in line)?.['reason'];
    expect(reasonOf(await request(token, { client_id: neighbour }))).toBe('no usable trust in the issuer');
    await run(['disable', clientId, '--yes']);
    expect(reasonOf(await request(token))).toBe('application disabled');
  });

  it('needs the client id', async () => {
    await trust(GITHUB);
    const response = await request(await issuer.token(claims()), { client_id: undefined });
    expect([response.status, response.body['code']]).toEqual([400, 'invalid_request']);
  });

  it('lists what it trusts, tells the last use, and ends the token with the trust', async () => {
    const [added] = await trust(GITHUB);
    expect(added).toEqual({
      id: expect.any(String) as string,
      state: 'READY',
      issuer: issuer.url,
      subject: GITHUB,
      audience: app.settings.baseUrl,
      fetchedAt: expect.any(String) as string,
      createdAt: expect.any(String) as string,
      lastUsedAt: null,
    });
    const token = (await request(await issuer.token(claims()))).body['access_token'] as string;
    const shown = JSON.parse((await run(['show', clientId, '--json'])).stdout) as { credentials: object[] };
    const times = { createdAt: expect.any(String) as string, lastUsedAt: expect.any(String) as string };
    expect(shown.credentials[1]).toEqual({ type: 'TRUST', id: added?.id, ...times, expiresAt: null });
    expect((await other.client(token).get('/v1/me')).status).toBe(200);

    expect(await trusts('remove', clientId, added?.id ?? '', '--yes')).toEqual([]);

    expect((await other.client(token).get('/v1/me')).body['code']).toBe('token_superseded');
    expect((await request(await issuer.token(claims()))).status).toBe(401);
    const { rows } = await sql(`SELECT action FROM audit_event WHERE target_id = $1 ORDER BY 1`, [clientId]);
    expect(rows).toEqual([{ action: 'application.trust_added' }, { action: 'application.trust_removed' }]);
  });

  it.each<[string, string[], number, string]>([
    ['a wide subject', ['--subject', 'repo:*', '--insecure'], 2, 'at least two segments'],
    ['a whole cluster', ['--subject', 'system:serviceaccount:*', '--insecure'], 2, 'Name a namespace'],
    ['an issuer without https', ['--subject', GITHUB], 2, 'https://'],
    ['an issuer that is not there', ['--subject', GITHUB, '--insecure'], 1, 'could not be reached'],
  ])('is not trusted with %s', async (_, words, code, text) => {
    const gone = await StandInIssuer.start();
    await gone.stop();
    const { exitCode, stderr } = await run(['trust', 'add', clientId, '--issuer', gone.url, ...words]);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(await trusts('list', clientId)).toEqual([]);
  });

  it('is never one of this API, nor insecure in production, nor trusted twice or more than ten times', async () => {
    const add = (url: string, environment = {}) =>
      run(['trust', 'add', clientId, '--issuer', url, '--subject', GITHUB, '--insecure'], environment);
    expect((await add(`${app.settings.baseUrl}/`)).stderr).toContain('is this API');
    const production = { NODE_ENV: 'production', SIGNING_KEYS_DIR: app.settings.signingKeysDir };
    const files = { CURSOR_KEYS_FILE: app.settings.cursorKeysFile, AUDIT_KEY_FILE: app.settings.auditKeyFile };
    const secrets = { SECRET_PEPPER_FILE: app.settings.secretPepperFile };
    const refused = await add(issuer.url, { ...production, ...files, ...secrets });
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('refused in production')]);
    await trust(GITHUB);
    expect((await add(issuer.url)).stderr).toContain('has this trust already');
    await sql(
      `INSERT INTO application_trust (workspace_id, client_id, issuer, subject)
       SELECT workspace_id, client_id, 'https://i.example', generate_series(1, 9)::text FROM application WHERE client_id = $1`,
      [clientId],
    );
    expect(
      (await run(['trust', 'add', clientId, '--issuer', issuer.url, '--subject', 'x', '--insecure'])).stderr,
    ).toContain('at most 10');
  });

  it('warns of the audience that Entra gives, an app registration, and takes that alone', async () => {
    const aud = '6e74172b-be56-4843-9ff4-e66a39bb12e3';
    const words = ['trust', 'add', clientId, '--issuer', issuer.url, '--subject', GITHUB, '--insecure'];
    const { stderr } = await run([...words, '--audience', aud]);
    expect(stderr).toContain('Whoever receives one can use it here.');
    expect((await request(await issuer.token(claims({ aud, oid: GITHUB, ver: '2.0' })))).status).toBe(200);
    expect((await request(await issuer.token(claims()))).status).toBe(401);
  });

  it('follows the rotation of keys without a request to the issuer', async () => {
    await trust(GITHUB);
    await issuer.rotate();
    const token = await issuer.token(claims());
    const asked = issuer.asked.length;
    expect((await request(token)).status).toBe(401);
    expect(issuer.asked).toHaveLength(asked);
    await look();
    expect(issuer.asked).toHaveLength(asked);
    await sql(`UPDATE application_trust SET attempted_at = now() + interval '1 hour'`);
    // Two instances at once ask an issuer once. The clock of Postgres may have been set back since the last attempt.
    await Promise.all([look(), look()]);
    expect(issuer.asked).toHaveLength(asked + 2);
    expect((await request(token, {}, other)).status).toBe(200);
    await sql(`UPDATE application_trust SET attempted_at = now() - interval '601 seconds'`);
    // A claim that began before this one, and gets its turn after it, claims nothing.
    await sql('BEGIN');
    await sql('SELECT now()');
    await look();
    const claimed = await sql('SELECT FROM claim_trusted_issuers(8) WHERE issuer = $1', [issuer.url]);
    await sql('COMMIT');
    expect([claimed.rowCount, issuer.asked.length]).toEqual([0, asked + 4]);
  });

  it('keeps what an operator fetched after an instance had asked', async () => {
    await trust(GITHUB);
    const old = JSON.stringify(await readIssuerKeys(JSON.stringify({ keys: issuer.keys })));
    await sql(`UPDATE application_trust SET attempted_at = NULL, state = 'PENDING' WHERE client_id = $1`, [clientId]);
    const claimed = await sql(`SELECT ids, claimed_at::text FROM claim_trusted_issuers(8) WHERE issuer = $1`, [
      issuer.url,
    ]);
    const { ids, claimed_at } = claimed.rows[0] as { ids: string[]; claimed_at: string };
    await issuer.rotate(undefined, { drop: true });
    await trusts('refresh', clientId);
    await sql('SELECT settle_trusted_issuer($1, $2, $3, NULL)', [ids, claimed_at, old]);
    expect((await request(await issuer.token(claims()))).status).toBe(200);
  });

  it('reads no more of a large set than a token needs', async () => {
    const [own, other] = [issuer.keys, await StandInIssuer.start('ES256')];
    await other.stop();
    const many = (key: object | undefined) => Array.from({ length: 49 }, (_, n) => ({ ...key, kid: `k${n}` }));
    await trust(GITHUB, '--jwks', keysFile([...many(other.keys[0]), ...own]));
    expect((await request(await issuer.token(claims(), { kid: undefined }))).status).toBe(200);
    await trust('repo:acme/other:*', '--jwks', keysFile([...many(own[0]), ...own]));
    expect((await request(await issuer.token(claims(), { kid: undefined }))).status).toBe(200);
    const found = await asApi(app, async (database) => {
      const grants = new GrantRepositoryTypeorm(database);
      return grants.findWithTrusts(clientId, issuer.url, null, 'RS256');
    });
    expect(found?.trusts.map(({ keys }) => keys.length)).toEqual([1, 4]);
  });

  it('uses a set that is older than 7 days no longer, and tells its age', async () => {
    const [added] = await trust(GITHUB);
    const token = await issuer.token(claims());
    const age = `UPDATE application_trust SET keys_at = now() - $2::interval, attempted_at = now() WHERE client_id = $1`;
    await sql(age, [clientId, '6 days 23 hours']);
    expect((await request(token)).status).toBe(200);
    await sql(age, [clientId, '7 days 1 second']);
    expect((await request(token)).status).toBe(401);
    const metrics = await look();
    const labels = `client_id="${clientId}",trust="${added?.id ?? ''}",kind="fetched"`;
    const line = metrics.split('\n').find((one) => one.includes(labels));
    expect(line).toMatch(/^compliance_trusted_keys_age_seconds\{workspace="w-\w+",.*\} 6048\d\d/);
    // An issuer that fails keeps its keys; one that answers again is used again.
    await trusts('refresh', clientId);
    expect((await request(token)).status).toBe(200);
  });

  it('uses a given set at any age, and replaces it', async () => {
    const [added] = await trust(GITHUB, '--jwks', keysFile(issuer.keys));
    const id = added?.id ?? '';
    expect([added?.state, added?.fetchedAt, issuer.asked]).toEqual(['READY', null, []]);
    await sql(`UPDATE application_trust SET keys_at = now() - interval '400 days' WHERE client_id = $1`, [clientId]);
    const old = await issuer.token(claims());
    const token = (await request(old)).body['access_token'] as string;
    await issuer.rotate(undefined, { drop: true });
    const me = async () => (await other.client(token).get('/v1/me')).status;

    expect((await run(['trust', 'refresh', clientId, id])).exitCode).toBe(1);
    expect((await run(['trust', 'refresh', clientId, '--jwks', keysFile(issuer.keys)])).exitCode).toBe(2);
    await trusts('refresh', clientId, id, '--jwks', keysFile(issuer.keys));
    expect([await me(), (await request(old)).status]).toEqual([200, 401]);
    await trusts('refresh', clientId, id, '--jwks', keysFile(issuer.keys), '--end-token');
    expect(await me()).toBe(401);

    expect((await request(await issuer.token(claims()))).status).toBe(200);
    const replaced = `SELECT changes FROM audit_event WHERE target_id = $1 AND action = 'application.trust_replaced'`;
    const { rows } = await sql(replaced, [clientId]);
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows[0])).toMatch(/"thumbprints".*[\w-]{43}.*[\w-]{43}/);
    expect((await run(['trust', 'refresh', clientId, id, '--jwks', keysFile([])])).exitCode).toBe(1);
  });

  it('of the console opens nothing before its keys are fetched, and fails after an hour', async () => {
    const add = `INSERT INTO application_trust (workspace_id, client_id, issuer, subject, insecure)
      SELECT workspace_id, client_id, $2, $3, $4 FROM application WHERE client_id = $1`;
    await sql(add, [clientId, issuer.url, GITHUB, true]);
    const token = await issuer.token(claims());
    expect((await request(token)).status).toBe(401);
    await look();
    expect((await trusts('list', clientId)).map(({ state }) => state)).toEqual(['READY']);
    expect((await request(token)).status).toBe(200);

    await sql(add, [clientId, 'https://10.0.0.1', GITHUB, false]);
    const age = `UPDATE application_trust SET created_at = now() - $2::interval, attempted_at = NULL
      WHERE client_id = $1 AND state = 'PENDING'`;
    for (const [interval, state] of [
      ['59 minutes', 'PENDING'],
      ['61 minutes', 'FAILED'],
    ] as const) {
      await sql(age, [clientId, interval]);
      await look();
      const failed = (await trusts('list', clientId)).find((one) => one.state !== 'READY');
      expect(failed).toMatchObject({
        state,
        failure: 'The issuer could not be reached.',
      });
    }
  });

  it.each([
    ['removed', 'DELETE FROM application_trust'],
    ['given other keys', `UPDATE application_trust SET keys = '[]'`],
    ['older than 7 days', `UPDATE application_trust SET keys_at = now() - interval '8 days'`],
    ['disabled with its application', 'UPDATE application SET disabled = true'],
  ])('gives no token for a trust that is %s while the request waits', async (_, change) => {
    await trust(GITHUB);
    await sql('BEGIN');
    await sql('SELECT FROM application WHERE client_id = $1 FOR UPDATE', [clientId]);
    const waiting = request(await issuer.token(claims()));
    await someoneWaits(app.database);
    await sql(`${change} WHERE client_id = $1`, [clientId]);
    await sql('COMMIT');
    expect((await waiting).status).toBe(401);
  });

  it.each<[string, object, object]>([
    ['a repository with a longer name', { sub: 'repo:acme/app-evil:ref:refs/heads/main' }, {}],
    ['another owner', { sub: 'repo:acme-evil/app:ref:refs/heads/main' }, {}],
    ['other letters', { sub: GITHUB.toUpperCase() }, {}],
    ['no subject', { sub: undefined }, {}],
    ['a subject that is an array', { sub: [GITHUB] }, {}],
    ['an issuer with a slash', { iss: 'slash' }, {}],
    ['another audience', { aud: 'https://other.example' }, {}],
    ['no audience', { aud: undefined }, {}],
    ['two audiences', { aud: 'two' }, {}],
    ['no expiry', { exp: undefined }, {}],
    ['an expiry in the past', { exp: 1 }, {}],
    ['an expiry beyond a day', { exp: seconds() + 87_000 }, {}],
    ['a start in the future', { nbf: seconds() + 600 }, {}],
    ['an unknown key', {}, { kid: 'other' }],
    ['a key that is a path', {}, { kid: '../../jwks' }],
    ['a key with U+0000', {}, { kid: 'a\u0000' }],
    ['a type of our own', {}, { typ: 'at+jwt' }],
    ['the type of an assertion', {}, { typ: 'client-authentication+jwt' }],
  ])('is refused with %s', async (_, changes, header) => {
    await trust('repo:acme/app:*', '--jwks', keysFile(issuer.keys));
    const base = app.settings.baseUrl;
    const odd = { slash: `${issuer.url}/`, two: [base, 'https://other.example'] } as Record<string, unknown>;
    const forged = Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, odd[value as string] ?? value]),
    );
    expect((await request(await issuer.token(claims()))).status).toBe(200);
    const response = await request(await issuer.token(claims(forged), header));
    const plain = await app
      .client()
      .requestToken({ grant_type: 'client_credentials', client_id: clientId, client_secret: 'cs_wrong' });
    const { requestId: _id, ...body } = response.body;
    const { requestId: _other, ...expected } = plain.body;
    expect([response.status, body]).toEqual([401, expected]);
    expect(issuer.asked).toEqual([]);
  });

  it('proves an application without a secret, and ends with one', async () => {
    const slug = await app.arrange.slugOf(workspace);
    const words = `create --workspace ${slug} --name ci --scope inventory:read --no-secret --json`.split(' ');
    const created = JSON.parse((await run(words)).stdout) as Record<string, unknown>;
    expect([created['credentials'], 'client_secret' in created]).toEqual([[], false]);
    clientId = created['client_id'] as string;
    await trust(GITHUB);
    const secret = (client_secret: string) =>
      app.client().requestToken({ grant_type: 'client_credentials', client_id: clientId, client_secret });
    expect((await secret('cs_guess')).status).toBe(401);
    expect((await request(await issuer.token(claims()))).status).toBe(200);
    const rotate = async (...more: string[]) =>
      (JSON.parse((await run(['rotate-secret', clientId, ...more, '--json'])).stdout) as { client_secret: string })
        .client_secret;
    const first = await rotate('--overlap', '1h');
    const shown = async () =>
      (
        JSON.parse((await run(['show', clientId, '--json'])).stdout) as { credentials: { type: string; id: string }[] }
      ).credentials.map(({ type, id }) => (type === 'SECRET' ? id : type));
    expect(await shown()).toEqual(['current', 'TRUST']);
    const second = await rotate('--overlap', '1h');
    expect(await shown()).toEqual(['current', 'previous', 'TRUST']);
    const ofTrust = (await request(await issuer.token(claims()))).body['access_token'] as string;
    await rotate('--overlap', '1h');
    expect((await run(['end-secret', clientId, '--old', '--json'])).exitCode).toBe(0);
    expect((await other.client(ofTrust).get('/v1/me')).status).toBe(200);
    const third = await rotate('--overlap', '1h');
    const token = (await secret(third)).body['access_token'] as string;
    expect((await run(['remove-secret', clientId])).exitCode).toBe(2);
    expect((await run(['remove-secret', clientId, '--yes'])).exitCode).toBe(0);
    expect(await shown()).toEqual(['TRUST']);
    expect((await other.client(token).get('/v1/me')).status).toBe(401);
    for (const ended of [first, second, third]) expect((await secret(ended)).status).toBe(401);
    expect((await request(await issuer.token(claims()))).status).toBe(200);
    const events = await sql(`SELECT action FROM audit_event WHERE target_id = $1 AND action LIKE '%removed'`, [
      clientId,
    ]);
    expect(events.rows).toEqual([{ action: 'application.secret_removed' }]);
  });
});
