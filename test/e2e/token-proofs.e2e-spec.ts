import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { readClientKeys } from '../../libs/auth/src/jwt/public-jwks';
import type { ArrangedApplication } from '../support/arrangement';
import { type TestOperator, openOperator } from '../support/operator';
import { type TestApp, startApp } from '../support/start-app';

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

interface Sent {
  /** Without those that are undefined. */
  readonly form: Readonly<Record<string, string | undefined>>;
  readonly headers?: Record<string, string>;
}

describe('POST /oauth/token takes one proof, and all of it', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  let app: TestApp;
  let operator: TestOperator;
  let client: ArrangedApplication;
  beforeAll(async () => {
    // A bucket that is not refilled during a test.
    app = await startApp({ RATE_LIMIT_TOKEN: '1/1000' });
    operator = await openOperator(app);
    client = await app.arrange.anApplication(await app.arrange.aWorkspace());
    const jwk = JSON.stringify(publicKey.export({ format: 'jwk' }));
    await operator.clientKeys.add(client.clientId, await readClientKeys(jwk));
  });
  afterAll(async () => {
    await operator.close();
    await app.stop();
  });

  const assertion = (claims: object = {}, expiry: string | number = '1 minute') =>
    new SignJWT({ iss: client.clientId, sub: client.clientId, jti: randomUUID(), ...claims })
      .setAudience(app.settings.baseUrl)
      .setExpirationTime(expiry)
      .setProtectedHeader({ alg: 'EdDSA' })
      .sign(privateKey);
  const request = async ({ form, headers }: Sent) => {
    const right = { client_assertion_type: TYPE, client_assertion: await assertion() };
    const all = { grant_type: 'client_credentials', ...right, ...form };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return app.client().requestToken(Object.fromEntries(sent), headers);
  };
  const basic = () => ({
    Authorization: `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`,
  });
  const bySecret = () => ({ client_id: client.clientId, client_secret: client.clientSecret });

  it.each<[string, () => Sent['form']]>([
    ['alone', () => ({})],
    ['with the client id', () => ({ client_id: client.clientId })],
    ['with an empty client id', () => ({ client_id: '' })],
    ['with an empty secret', () => ({ client_secret: '' })],
  ])('takes an assertion %s', async (_, form) => {
    expect((await request({ form: form() })).status).toBe(200);
  });

  it.each<[string, () => Sent | Promise<Sent>]>([
    ['a secret too', () => ({ form: bySecret() })],
    ['a wrong secret too', () => ({ form: { client_secret: 'cs_x' } })],
    ['a secret by Basic too', () => ({ form: {}, headers: basic() })],
    ['no type', () => ({ form: { client_assertion_type: undefined } })],
    ['an empty type', () => ({ form: { client_assertion_type: '' } })],
    ['another type', () => ({ form: { client_assertion_type: TYPE.replace('jwt', 'saml2') } })],
    ['an empty assertion', () => ({ form: { client_assertion: '' } })],
    ['an empty assertion of a client', () => ({ form: { client_id: client.clientId, client_assertion: '' } })],
    ['an empty assertion beside a secret', () => ({ form: { ...bySecret(), client_assertion: '' } })],
    [
      'an empty assertion without a type beside a secret',
      () => ({ form: { ...bySecret(), client_assertion: '', client_assertion_type: undefined } }),
    ],
    ['an empty assertion beside Basic', () => ({ form: { client_assertion: '' }, headers: basic() })],
    ['a type alone', () => ({ form: { client_assertion: undefined } })],
    ['a type beside a secret', () => ({ form: { ...bySecret(), client_assertion: undefined } })],
    ['a type beside Basic', () => ({ form: { client_assertion: undefined }, headers: basic() })],
    ['an assertion that names no client', () => ({ form: { client_assertion: 'x.y.z' } })],
    ['an assertion that names two', async () => ({ form: { client_assertion: await assertion({ sub: 'ci_x' }) } })],
    [
      'an assertion that names nobody',
      async () => ({ form: { client_assertion: await assertion({ iss: '', sub: '' }) } }),
    ],
  ])('returns 400 for %s', async (_, sent) => {
    const response = await request(await sent());
    expect([response.status, response.body['code']]).toEqual([400, 'invalid_request']);
  });

  it('refuses an assertion that is expired by the clock of Postgres alone before it charges the client', async () => {
    const remaining = async () => Number((await request({ form: {} })).headers.get('x-ratelimit-remaining'));
    const late = await assertion({}, Math.floor(Date.now() / 1_000) - 31);
    const before = await remaining();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 10_000);
    try {
      const { status, body } = await request({ form: { client_assertion: late } });

      const logged = app.logLines.find((line) => line['requestId'] === body['requestId'] && 'reason' in line);
      expect([status, logged?.['reason']]).toEqual([401, 'expired by the clock of Postgres']);
    } finally {
      clock.mockRestore();
    }
    // The second look alone was charged.
    expect(before - (await remaining())).toBe(1);
  });

  it('returns 400 for an assertion in the query string', async () => {
    const signed = await assertion();
    const form = { grant_type: 'client_credentials', client_assertion_type: TYPE, client_assertion: signed };
    const body = new URLSearchParams(form);
    const response = await app.client().send('POST', `/oauth/token?client_assertion=${signed}`, { body });
    expect([response.status, response.body]).toMatchObject([400, { code: 'invalid_request' }]);
  });
});
