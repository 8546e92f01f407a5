import { KeyObject, createHash, randomUUID, sign as signBytes } from 'node:crypto';
import { inspect } from 'node:util';
import {
  type CryptoKey,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
  exportJWK,
  generateKeyPair,
} from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { ComplianceClient } from '#libs/client';
import { readClientKeys } from '../../libs/auth/src/jwt/public-jwks';
import type { ApiResponse } from '../support/api-client';
import type { ArrangedApplication } from '../support/arrangement';
import { type TestOperator, openOperator } from '../support/operator';
import { redisOfTheRun } from '../support/redis-of-the-run';
import { StandInIssuer } from '../support/stand-in-issuer';
import { TcpProxy } from '../support/tcp-proxy';
import { SPECIFIED_LIMITS, type TestApp, UNLIMITED, startApp, startInstance } from '../support/start-app';
import { someoneWaits } from '../support/waiting-sessions';

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const seconds = (): number => Math.floor(Date.now() / 1_000);

describe('POST /oauth/token with a signed assertion', () => {
  let app: TestApp;
  let other: TestApp;
  let operator: TestOperator;
  let workspace: string;
  let client: ArrangedApplication;
  let privateKey: CryptoKey;
  let publicJwk: JWK;
  beforeAll(async () => {
    app = await startApp({ ...UNLIMITED, REDIS_URL: redisOfTheRun() });
    other = await startInstance(app, { ...UNLIMITED, REDIS_URL: redisOfTheRun(), BASE_URL: app.settings.baseUrl });
    operator = await openOperator(app);
    workspace = await app.arrange.aWorkspace();
    client = await app.arrange.anApplication(workspace, ['inventory:read']);
    ({ privateKey, publicJwk } = await aKey('ES256'));
    await addKey(client.clientId, { ...publicJwk, kid: 'k1' });
  });
  afterAll(async () => {
    await operator.close();
    await other.stop();
    await app.stop();
  });

  const aKey = async (algorithm: string) => {
    const pair = await generateKeyPair(algorithm, { extractable: true });
    return { privateKey: pair.privateKey, publicJwk: await exportJWK(pair.publicKey) };
  };
  const addKey = async (clientId: string, jwk: object) =>
    operator.clientKeys.add(clientId, await readClientKeys(JSON.stringify(jwk)));
  const claims = (changes: object = {}) => ({
    iss: client.clientId,
    sub: client.clientId,
    aud: app.settings.baseUrl,
    exp: seconds() + 60,
    jti: randomUUID(),
    ...changes,
  });
  const sign = (payload: object, header: Partial<JWTHeaderParameters> = {}, key: CryptoKey | Uint8Array = privateKey) =>
    new SignJWT({ ...payload }).setProtectedHeader({ alg: 'ES256', ...header }).sign(key);
  const form = (assertion: string, changes: object = {}) => ({
    grant_type: 'client_credentials',
    client_assertion_type: TYPE,
    client_assertion: assertion,
    ...changes,
  });
  const request = (assertion: string, changes: object = {}, instance = app): Promise<ApiResponse> =>
    instance.client().requestToken(form(assertion, changes) as Record<string, string>);

  /** Why a request was refused, from the log. The line comes once the response is sent. */
  const reasonOf = ({ body }: ApiResponse) =>
    app.logLines.find((line) => line['requestId'] === body['requestId'] && 'reason' in line)?.['reason'];

  it('returns a token for each kind of key, with and without the client id', async () => {
    for (const algorithm of ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519']) {
      client = await app.arrange.anApplication(workspace, ['inventory:read']);
      const key = await aKey(algorithm);
      await addKey(client.clientId, key.publicJwk);
      for (const form of [{}, { client_id: client.clientId }, { client_secret: '' }]) {
        const response = await request(await sign(claims(), { alg: algorithm }, key.privateKey), form);
        expect([algorithm, response.status, response.body['scope']]).toEqual([algorithm, 200, 'inventory:read']);
      }
      ({ privateKey, publicJwk } = algorithm === 'ES256' ? key : { privateKey, publicJwk });
    }
    client = await app.arrange.anApplication(workspace, ['inventory:read']);
    await addKey(client.clientId, { ...publicJwk, kid: 'k1' });
  });

  it('serves openid-client untouched', async () => {
    const metadata = { issuer: app.settings.baseUrl, token_endpoint: `${app.origin}/oauth/token` };
    const configuration = new openid.Configuration(metadata, client.clientId, {}, openid.PrivateKeyJwt(privateKey));
    openid.allowInsecureRequests(configuration);

    const granted = await openid.clientCredentialsGrant(configuration);

    expect(granted.scope).toBe('inventory:read');
  });

  it('serves oauth4webapi untouched', async () => {
    const server = { issuer: app.settings.baseUrl, token_endpoint: `${app.origin}/oauth/token` };
    const authentication = oauth.PrivateKeyJwt({ key: privateKey, kid: 'k1' });
    const insecure = { [oauth.allowInsecureRequests]: true };
    const known = { client_id: client.clientId };
    const response = await oauth.clientCredentialsGrantRequest(server, known, authentication, {}, insecure);
    const granted = await oauth.processClientCredentialsResponse(server, known, response);
    expect(granted.scope).toBe('inventory:read');
  });

  it.each(['PEM', 'KeyObject', 'CryptoKey'])('serves our own client with a %s', async (kind) => {
    const object = KeyObject.from(privateKey as never);
    const pem = object.export({ type: 'pkcs8', format: 'pem' }).toString();
    const key = { PEM: pem, KeyObject: object, CryptoKey: privateKey }[kind] as KeyObject;
    const own = { key, algorithm: 'ES256', kid: 'k1', audience: app.settings.baseUrl } as const;
    const api = new ComplianceClient({ baseUrl: app.origin, clientId: client.clientId, privateKey: own });
    expect((await api.me()).body.application.clientId).toBe(client.clientId);
    expect(inspect(api, { depth: 9, showHidden: true })).not.toContain('PRIVATE KEY');
  });

  it('accepts an assertion once, on two instances at once too', async () => {
    for (let round = 0; round < 5; round += 1) {
      const assertion = await sign(claims());
      const responses = await Promise.all([app, other, app, other].map((one) => request(assertion, {}, one)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
      expect((await request(assertion, {}, other)).status).toBe(401);
    }
  });

  it('accepts an assertion once without Redis, too', async () => {
    const { hostname, port } = new URL(redisOfTheRun());
    const proxy = await TcpProxy.to(hostname, Number(port));
    const cut = redisOfTheRun().replace(`${hostname}:${port}`, `127.0.0.1:${proxy.port}`);
    const instance = await startInstance(app, { ...UNLIMITED, REDIS_URL: cut, BASE_URL: app.settings.baseUrl });
    try {
      await proxy.set('refuse');
      const assertion = await sign(claims());
      const responses = await Promise.all([instance, other].map((one) => request(assertion, {}, one)));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 401]);
      expect((await request(await sign(claims({ aud: 'https://x.example' })), {}, instance)).status).toBe(401);
    } finally {
      await instance.stop();
      await proxy.close();
    }
  });

  it('leaves an assertion usable when the request ended otherwise', async () => {
    const assertion = await sign(claims());
    expect((await request(assertion, { scope: 'all:write' })).body['code']).toBe('invalid_scope');
    expect((await request(assertion)).status).toBe(200);

    const { clientId } = await app.arrange.anApplication(workspace, ['inventory:read']);
    await addKey(clientId, { ...publicJwk, kid: 'k1' });
    await operator.applications.setLimits(clientId, { token: { perMinute: 60, burst: 1 } });
    let [own, status] = ['', 200];
    while (status === 200) {
      own = await sign(claims({ iss: clientId, sub: clientId }));
      ({ status } = await request(own));
    }
    expect(status).toBe(429);
    while (status === 429) ({ status } = await request(own));
    expect(status).toBe(200);
  });

  it('leaves one valid token when secret and assertion ask at once', async () => {
    const secret = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret };
    const responses = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async (n) =>
        n % 2 === 0 ? app.client().requestToken(secret) : request(await sign(claims()), {}, other),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const statuses = await Promise.all(
      responses.map(async ({ body }) => (await app.client(body['access_token'] as string).get('/v1/me')).status),
    );
    expect(statuses.sort()).toEqual([200, 401, 401, 401, 401, 401]);
  });

  it('ends the token with its key, and shows which proof was used', async () => {
    const { clientId } = await app.arrange.anApplication(workspace, ['inventory:read']);
    await addKey(clientId, { ...publicJwk, kid: 'gone' });
    const own = claims({ iss: clientId, sub: clientId });
    const token = (await request(await sign(own))).body['access_token'] as string;
    const shown = (await operator.applications.find(clientId))?.credentials;
    expect(shown).toMatchObject([{ type: 'SECRET' }, { type: 'KEY', id: 'gone', expiresAt: null }]);
    expect(shown?.[1]?.lastUsedAt).toBeInstanceOf(Date);

    expect(await operator.clientKeys.remove(clientId, 'gone')).toEqual([]);

    expect((await other.client(token).get('/v1/me')).body['code']).toBe('token_superseded');
    expect((await request(await sign({ ...own, jti: 'new' }))).status).toBe(401);
    await expect(addKey(client.clientId, { ...publicJwk, kid: 'k1' })).rejects.toThrow('has a key "k1" already');
  });

  it.each([
    ['removed', 'DELETE FROM application_key'],
    ['disabled with its application', 'UPDATE application SET disabled = true'],
  ])('gives no token for a key that is %s while the request waits', async (_, change) => {
    const { clientId } = await app.arrange.anApplication(workspace, ['inventory:read']);
    await addKey(clientId, { ...publicJwk, kid: 'gone' });
    const { admin } = app.database;
    await admin.query('BEGIN');
    await admin.query('SELECT FROM application WHERE client_id = $1 FOR UPDATE', [clientId]);
    const waiting = request(await sign(claims({ iss: clientId, sub: clientId })));
    await someoneWaits(app.database);
    await admin.query(`${change} WHERE client_id = $1`, [clientId]);
    await admin.query('COMMIT');

    expect((await waiting).status).toBe(401);
  });

  it('accepts one jti of two applications, and again after the assertion is over', async () => {
    const { clientId } = await app.arrange.anApplication(workspace, ['inventory:read']);
    await addKey(clientId, { ...publicJwk, kid: 'k1' });
    const jti = randomUUID();
    const ask = async (id: string) => (await request(await sign(claims({ iss: id, sub: id, jti })))).status;
    expect([await ask(client.clientId), await ask(clientId), await ask(clientId)]).toEqual([200, 200, 401]);

    const { admin } = app.database;
    const age = `UPDATE used_assertion SET expires_at = now() - $2::interval WHERE client_id = $1`;
    const remembered = `SELECT FROM used_assertion WHERE client_id = $1`;
    await admin.query(age, [clientId, '1 second']);
    expect([await ask(clientId), await ask(clientId)]).toEqual([200, 401]);

    // Postgres' clock may be set back by less than an hour.
    await admin.query(age, [clientId, '59 minutes']);
    await request(await sign(claims({ iss: clientId, sub: clientId })));
    expect((await admin.query(remembered, [clientId])).rowCount).toBe(2);
    await admin.query(age, [clientId, '61 minutes']);
    await request(await sign(claims({ iss: clientId, sub: clientId })));
    expect((await admin.query(remembered, [clientId])).rowCount).toBe(1);
  });

  it('is refused at once for a disabled application', async () => {
    const { clientId } = await app.arrange.anApplication(workspace, ['inventory:read']);
    await addKey(clientId, { ...publicJwk, kid: 'k1' });
    await operator.applications.setDisabled(clientId, true);
    const response = await request(await sign(claims({ iss: clientId, sub: clientId })));
    expect([response.status, reasonOf(response)]).toEqual([401, 'application disabled']);
  });

  it.each(['ci_\u0000', 'ci_\ud800', 'x'.repeat(5_000), '__proto__'])('is refused for the client %j', async (name) => {
    const assertion = await sign(claims({ iss: name, sub: name }));
    for (const form of [{}, { client_id: client.clientId }]) expect((await request(assertion, form)).status).toBe(401);
  });

  it('accepts the old audience only for an application made for it', async () => {
    const address = { aud: `${app.settings.baseUrl}/oauth/token` };
    expect((await request(await sign(claims(address)))).status).toBe(401);
    await app.database.admin.query('UPDATE application SET old_audience = true WHERE client_id = $1', [
      client.clientId,
    ]);
    expect((await request(await sign(claims(address)))).status).toBe(200);
    expect((await request(await sign(claims(address), { typ: 'client-authentication+jwt' }))).status).toBe(401);
    await app.database.admin.query('UPDATE application SET old_audience = false WHERE client_id = $1', [
      client.clientId,
    ]);
  });

  describe('that is forged', () => {
    const replaced = (token: string, part: number, text: string) =>
      token
        .split('.')
        .map((value, place) => (place === part ? text : value))
        .join('.');
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const changed = (changes: object) => async () => sign(claims(changes));
    const headed = (header: object) => async () => sign(claims(), header);
    /** By the right key. `jose` would not sign these. */
    const asHeader = (header: object) => () => {
      const text = `${encoded({ alg: 'ES256', ...header })}.${encoded(claims())}`;
      const key = { key: KeyObject.from(privateKey as never), dsaEncoding: 'ieee-p1363' } as const;
      return Promise.resolve(`${text}.${signBytes('sha256', Buffer.from(text), key).toString('base64url')}`);
    };
    const base = () => app.settings.baseUrl;

    let keyOfNeighbour: CryptoKey;
    /** Must not be asked. */
    let witness: StandInIssuer;
    beforeAll(async () => {
      witness = await StandInIssuer.start();
      const { clientId } = await app.arrange.anApplication(workspace, ['inventory:read']);
      const neighbour = await aKey('ES256');
      keyOfNeighbour = neighbour.privateKey;
      await addKey(clientId, { ...neighbour.publicJwk, kid: 'of-neighbour' });
    });
    afterAll(() => witness.stop());

    type Forgery = [string, () => Promise<string>];
    const forgeries: Forgery[] = [
      ['another audience', changed({ aud: 'https://other.example' })],
      ['an audience with a slash', async () => sign(claims({ aud: `${base()}/` }))],
      ['an audience with a prefix', async () => sign(claims({ aud: `${base()}.evil.example` }))],
      ['an audience in capitals', async () => sign(claims({ aud: base().toUpperCase() }))],
      ['two audiences', async () => sign(claims({ aud: [base(), 'https://other.example'] }))],
      ['the audience twice', async () => sign(claims({ aud: [base(), base()] }))],
      ['no audience in an array', changed({ aud: [] })],
      ['a nested audience', async () => sign(claims({ aud: [[base()]] }))],
      ['an audience that is an object', async () => sign(claims({ aud: { [base()]: true } }))],
      ['an audience that is null', changed({ aud: null })],
      ['the token endpoint as audience', async () => sign(claims({ aud: `${base()}/oauth/token` }))],
      ...['iss', 'sub', 'aud', 'exp', 'jti'].map((one): Forgery => [`no ${one}`, changed({ [one]: undefined })]),
      ['an expired one', async () => sign(claims({ exp: seconds() - 31 }))],
      ['one of the far future', async () => sign(claims({ exp: seconds() + 3_700 }))],
      ['an endless one', changed({ exp: 1e300 })],
      ['exp as a text', async () => sign(claims({ exp: String(seconds() + 60) }))],
      ['exp in milliseconds', changed({ exp: Date.now() + 60_000 })],
      ['exp that is negative', changed({ exp: -1 })],
      ['nbf in the future', async () => sign(claims({ nbf: seconds() + 60 }))],
      ['iat in the future', async () => sign(claims({ iat: seconds() + 60 }))],
      ['iat as a text', changed({ iat: 'now' })],
      ['an empty jti', changed({ jti: '' })],
      ['jti as a number', changed({ jti: 7 })],
      ['jti as an object', changed({ jti: { a: 1 } })],
      ['jti as an object that is no text', changed({ jti: { toString: 1 } })],
      ['an algorithm that is no text', asHeader({ alg: { toString: 1 } })],
      ['another issuer', async () => sign(claims({ iss: witness.url }))],
      ['an issuer that is an array', async () => sign(claims({ iss: [client.clientId] }))],
      ['another subject', changed({ sub: 'ci_other' })],
      ['a subject with a suffix', async () => sign(claims({ sub: `${client.clientId} ` }))],
      ['an unknown client', changed({ iss: 'ci_unknown', sub: 'ci_unknown' })],
      ['none as algorithm', () => Promise.resolve(new UnsecuredJWT(claims()).encode())],
      ['none in capitals', asHeader({ alg: 'NONE' })],
      [
        'HS256 with the public key',
        async () => sign(claims(), { alg: 'HS256' }, Buffer.from(JSON.stringify(publicJwk))),
      ],
      [
        'HS256 with the digest of the secret',
        async () => {
          const digest = createHash('sha256').update(client.clientSecret).digest();
          return sign(claims(), { alg: 'HS256' }, digest);
        },
      ],
      ['another key', async () => sign(claims(), {}, (await aKey('ES256')).privateKey)],
      ['another key with the right kid', async () => sign(claims(), { kid: 'k1' }, (await aKey('ES256')).privateKey)],
      ['the key of another application of the workspace', () => sign(claims(), {}, keyOfNeighbour)],
      ['a key of another algorithm', async () => sign(claims(), { alg: 'RS256' }, (await aKey('RS256')).privateKey)],
      ['an algorithm that the key has not', asHeader({ alg: 'ES384' })],
      ['an algorithm that is an array', asHeader({ alg: ['ES256'] })],
      ['an unknown kid', headed({ kid: 'k2' })],
      ['a kid that is a path', headed({ kid: '../../../../dev/null' })],
      ['a kid that is SQL', headed({ kid: "k1' OR '1'='1" })],
      ['a kid with U+0000', headed({ kid: 'k1\u0000' })],
      ['an empty kid', headed({ kid: '' })],
      ['a kid that is a number', asHeader({ kid: 1 })],
      ['a kid that is an address', async () => sign(claims(), { kid: `${witness.url}/jwks` })],
      [
        'an embedded key',
        async () => {
          const own = await aKey('ES256');
          return sign(claims(), { jwk: own.publicJwk }, own.privateKey);
        },
      ],
      [
        'the address of a key set',
        async () => sign(claims(), { jku: `${witness.url}/jwks` }, (await aKey('ES256')).privateKey),
      ],
      [
        'the address of a certificate',
        async () => sign(claims(), { x5u: `${witness.url}/cert` }, (await aKey('ES256')).privateKey),
      ],
      ['a critical extension', asHeader({ crit: ['exp'], exp: 1 })],
      ['an unencoded payload', asHeader({ crit: ['b64'], b64: false })],
      ['the type of an access token', headed({ typ: 'at+jwt' })],
      ['a type that is an object', asHeader({ typ: {} })],
      ['no signature', async () => replaced(await sign(claims()), 2, '')],
      ['a zero signature', async () => replaced(await sign(claims()), 2, Buffer.alloc(64).toString('base64url'))],
      ['changed claims', async () => replaced(await sign(claims()), 1, encoded(claims({ jti: 'changed' })))],
      ['four parts', async () => `${await sign(claims())}.x`],
      [
        'a bomb of nested arrays',
        async () => replaced(await sign(claims()), 0, Buffer.from('['.repeat(9_000)).toString('base64url')),
      ],
      ['a header that is null', async () => replaced(await sign(claims()), 0, encoded(null))],
      ['a header that is an array', async () => replaced(await sign(claims()), 0, encoded([]))],
      [
        'an assertion of 15 KiB by another key',
        async () => sign(claims({ pad: 'x'.repeat(11_000) }), {}, (await aKey('ES256')).privateKey),
      ],
      [
        'an access token of this API',
        async () => {
          const { body } = await request(await sign(claims()));
          return body['access_token'] as string;
        },
      ],
    ];

    it('has sixty forms', () => expect(forgeries.length).toBeGreaterThanOrEqual(60));

    it('is 413 beyond 16 KiB, whatever it is', async () => {
      for (const size of [16_500, 1_000_000]) expect((await request('x'.repeat(size))).status).toBe(413);
    });

    it.each(forgeries)('is refused like any other: %s', async (_, forge) => {
      const assertion = await forge();
      const response = await request(assertion, { client_id: client.clientId });
      const plain = await app
        .client()
        .requestToken({ grant_type: 'client_credentials', client_id: client.clientId, client_secret: 'cs_wrong' });
      const { requestId: _id, ...body } = response.body;
      const { requestId: _other, ...expected } = plain.body;
      expect([response.status, body]).toEqual([401, expected]);
      const names = (one: ApiResponse) => [...one.headers.keys()];
      expect(names(response)).toEqual(names(plain));
      expect(witness.asked).toEqual([]);
      // It is found out before the statement that decides races, so it never costs the client's own bucket.
      expect(reasonOf(response)).toEqual(expect.stringMatching(/^(?!ended or used)/));
      const [, payload = '', signature = ''] = assertion.split('.');
      const log = JSON.stringify(app.logLines);
      for (const part of [payload, signature].filter(({ length }) => length > 20)) expect(log).not.toContain(part);
    });
  });

  it('never lets a captured assertion lock out its client', async () => {
    const limited = await startInstance(app, {
      ...SPECIFIED_LIMITS,
      REDIS_URL: redisOfTheRun(),
      BASE_URL: app.settings.baseUrl,
    });
    try {
      const captured = await sign(claims());
      expect((await request(captured, {}, limited)).status).toBe(200);
      const replays: number[] = [];
      for (let n = 0; n < 12; n += 1) replays.push((await request(captured, {}, limited)).status);
      expect([...new Set(replays)].sort()).toEqual([401, 429]);
      expect((await request(await sign(claims()), {}, limited)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});
