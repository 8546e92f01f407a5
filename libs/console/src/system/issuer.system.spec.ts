import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '#libs/platform/config';
import { Issuer } from './issuer.system';

const HOST = 'https://login.microsoftonline.com';
const OURS = '11111111-1111-1111-1111-111111111111';
const THEIRS = '22222222-2222-2222-2222-222222222222';

const [own, foreign] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' })) as [KeyPair, KeyPair];
type KeyPair = ReturnType<typeof generateKeyPairSync>;

describe('An issuer of OpenID Connect', () => {
  let issuer: Issuer;
  let described: string;
  /** Instead of an address. */
  let told: Record<string, unknown>;
  let methods: string[] | undefined;
  let claims: Record<string, unknown>;
  let changed: Record<string, unknown>;
  let signer: KeyPair;
  let keys: () => Response;
  let refusal: Response | null;
  beforeEach(() => {
    [described, told, signer, changed] = [`${HOST}/${OURS}/v2.0`, {}, own, {}];
    refusal = null;
    keys = () => Response.json({ keys: [own.publicKey.export({ format: 'jwk' })] });
    const secretFile = join(mkdtempSync(join(tmpdir(), 'issuer-')), 'secret');
    writeFileSync(secretFile, 'secret\n');
    const oidc = { issuer: `${HOST}/${OURS}/v2.0`, clientId: 'console', secretFile };
    issuer = new Issuer({ production: true, console: { url: 'https://console.example', oidc } } as Settings);
    jest.spyOn(globalThis, 'fetch').mockImplementation((input) => {
      const path = input instanceof Request ? input.url : String(input);
      if (path.endsWith('/keys')) return Promise.resolve(keys());
      if (path.endsWith('/token') && refusal) return Promise.resolve(refusal);
      const body = path.endsWith('/token')
        ? { access_token: 'x', token_type: 'bearer', id_token: signed(claims, signer) }
        : {
            ...{ issuer: described, authorization_endpoint: `${HOST}/authorize`, token_endpoint: `${HOST}/token` },
            ...{ jwks_uri: `${HOST}/keys`, id_token_signing_alg_values_supported: ['ES256'] },
            token_endpoint_auth_methods_supported: methods,
          };
      const members = Object.entries(body).map(([name, value]) => [
        name,
        String(value) in told ? told[String(value)] : value,
      ]);
      return Promise.resolve(Response.json(Object.fromEntries(members)));
    });
  });
  afterEach(() => jest.restoreAllMocks());

  const signIn = async (tenant: string) => {
    const { address, kept } = await issuer.begin();
    const asked = new URL(address).searchParams;
    const now = Math.floor(Date.now() / 1_000);
    claims = {
      ...{ iss: `${HOST}/${tenant}/v2.0`, tid: tenant, sub: 'ada', aud: 'console', iat: now, exp: now + 60 },
      ...{ nonce: asked.get('nonce'), email: 'ada@example.com', email_verified: true, ...changed },
    };
    return issuer.finish(`/sign-in/callback?code=x&state=${asked.get('state')}`, kept);
  };

  it.each(['authorize', 'token', 'keys'])('is asked again where it did not tell its address %s', async (address) => {
    for (const instead of [undefined, 5, 'javascript:alert(1)', 'https://']) {
      told = { [`${HOST}/${address}`]: instead };
      await expect(issuer.begin()).rejects.toThrow('The issuer of accounts does not respond.');
    }
    told = {};

    await expect(signIn(OURS)).resolves.toHaveProperty('subject', 'ada');
  });

  /** Such an issuer describes itself by a pattern, and openid-client takes the tokens of each tenant. */
  it('opens nothing for many tenants, because their accounts are not one set', async () => {
    described = `${HOST}/{tenantid}/v2.0`;
    await expect(signIn(THEIRS)).resolves.toBe('the id token is of another issuer');
  });

  it('signs people in as one tenant', async () => {
    await expect(signIn(OURS)).resolves.toMatchObject({ subject: 'ada', verifiedEmail: 'ada@example.com' });
    await expect(signIn(THEIRS)).resolves.toEqual(expect.any(String));
  });

  it('signs nobody in by an id token that a key of others signed', async () => {
    signer = foreign;
    await expect(signIn(OURS)).resolves.toEqual(expect.any(String));
  });

  it('is away while its keys are', async () => {
    keys = () => new Response('Bad Gateway', { status: 502 });
    await expect(signIn(OURS)).rejects.toThrow('does not respond');
  });

  it('is away while it has too many requests', async () => {
    refusal = Response.json({ error: 'slow_down' }, { status: 429 });
    await expect(signIn(OURS)).rejects.toThrow('does not respond');
  });

  it.each([400, 401])('makes it no fault of the person that it does not take the secret, with %i', async (status) => {
    refusal = Response.json({ error: 'invalid_client' }, { status });
    await expect(signIn(OURS)).rejects.toHaveProperty('error', 'invalid_client');
  });

  it.each([
    ['are not where it says', () => new Response('Not Found', { status: 404 }), 'HTTP response status code'],
    ['are a page for people', () => new Response('<p>', { headers: { 'content-type': 'text/html' } }), 'content-type'],
    ['lack the one that signed', () => Response.json({ keys: [] }), 'no applicable keys'],
  ])('tells operators that its keys %s', async (_, answer, reason) => {
    keys = answer;
    await expect(signIn(OURS)).resolves.toContain(reason);
  });

  it.each([{ sub: '' }, { sub: 'a\0da' }, { sub: '\ud800' }, { sub: 'a'.repeat(256) }, { email: 'a\0da@example.com' }])(
    'signs nobody in as %j, which is no account or no text for Postgres',
    async (claim) => {
      changed = claim;
      await expect(signIn(OURS)).resolves.toBe('the subject or the address cannot be stored');
    },
  );

  it.each([
    ['the form', ['client_secret_basic', 'client_secret_post'], { client_secret: 'secret' }, undefined],
    ['HTTP Basic', ['client_secret_basic'], {}, 'Basic Y29uc29sZTpzZWNyZXQ='],
    ['HTTP Basic, the default of the standard', undefined, {}, 'Basic Y29uc29sZTpzZWNyZXQ='],
  ])('gets the secret by %s', async (_, supported, form, authorization) => {
    methods = supported;

    await signIn(OURS);

    const [, sent] = jest.mocked(fetch).mock.calls.find(([address]) => address === `${HOST}/token`) ?? [];
    const { client_secret } = Object.fromEntries(sent?.body as URLSearchParams);
    expect({ client_secret }).toEqual({ client_secret: undefined, ...form });
    expect(new Headers(sent?.headers).get('authorization') ?? undefined).toBe(authorization);
  });
});

function signed(claims: Record<string, unknown>, { privateKey }: KeyPair): string {
  const parts = [{ alg: 'ES256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const signature = sign('sha256', Buffer.from(parts.join('.')), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return [...parts, signature.toString('base64url')].join('.');
}
