import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '#libs/platform/config';
import { Issuer } from './issuer.system';

const HOST = 'https://login.microsoftonline.com';
const OURS = '11111111-1111-1111-1111-111111111111';
const THEIRS = '22222222-2222-2222-2222-222222222222';

describe('An issuer of OpenID Connect', () => {
  let issuer: Issuer;
  let described: string;
  let methods: string[] | undefined;
  let claims: Record<string, unknown>;
  beforeEach(() => {
    const secretFile = join(mkdtempSync(join(tmpdir(), 'issuer-')), 'secret');
    writeFileSync(secretFile, 'secret\n');
    const oidc = { issuer: `${HOST}/${OURS}/v2.0`, clientId: 'console', secretFile };
    issuer = new Issuer({ production: true, console: { url: 'https://console.example', oidc } } as Settings);
    jest.spyOn(globalThis, 'fetch').mockImplementation((input) => {
      const path = input instanceof Request ? input.url : String(input);
      const body = path.endsWith('/token')
        ? { access_token: 'x', token_type: 'bearer', id_token: unsigned(claims) }
        : {
            ...{ issuer: described, authorization_endpoint: `${HOST}/authorize`, token_endpoint: `${HOST}/token` },
            token_endpoint_auth_methods_supported: methods,
          };
      return Promise.resolve(Response.json(body));
    });
  });
  afterEach(() => jest.restoreAllMocks());

  const signIn = async (tenant: string) => {
    const { address, kept } = await issuer.begin();
    const asked = new URL(address).searchParams;
    const now = Math.floor(Date.now() / 1_000);
    claims = {
      ...{ iss: `${HOST}/${tenant}/v2.0`, tid: tenant, sub: 'ada', aud: 'console', iat: now, exp: now + 60 },
      ...{ nonce: asked.get('nonce'), email: 'ada@example.com', email_verified: true },
    };
    return issuer.finish(`/sign-in/callback?code=x&state=${asked.get('state')}`, kept);
  };

  /** Such an issuer describes itself by a pattern, and openid-client takes the tokens of each tenant. */
  it('opens nothing for many tenants, because their accounts are not one set', async () => {
    described = `${HOST}/{tenantid}/v2.0`;
    await expect(signIn(THEIRS)).resolves.toBe('the response is not valid');
  });

  it('signs people in as one tenant', async () => {
    described = `${HOST}/${OURS}/v2.0`;
    await expect(signIn(OURS)).resolves.toMatchObject({ subject: 'ada', verifiedEmail: 'ada@example.com' });
    await expect(signIn(THEIRS)).resolves.toEqual(expect.any(String));
  });

  it.each([
    ['the form', ['client_secret_basic', 'client_secret_post'], { client_secret: 'secret' }, undefined],
    ['HTTP Basic', ['client_secret_basic'], {}, 'Basic Y29uc29sZTpzZWNyZXQ='],
    ['HTTP Basic, the default of the standard', undefined, {}, 'Basic Y29uc29sZTpzZWNyZXQ='],
  ])('gets the secret by %s', async (_, supported, form, authorization) => {
    described = `${HOST}/${OURS}/v2.0`;
    methods = supported;

    await signIn(OURS);

    const [, sent] = jest.mocked(fetch).mock.calls.find(([address]) => address === `${HOST}/token`) ?? [];
    const { client_secret } = Object.fromEntries(sent?.body as URLSearchParams);
    expect({ client_secret }).toEqual({ client_secret: undefined, ...form });
    expect(new Headers(sent?.headers).get('authorization') ?? undefined).toBe(authorization);
  });
});

const unsigned = (claims: Record<string, unknown>): string =>
  [{ alg: 'RS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.c2ln';
