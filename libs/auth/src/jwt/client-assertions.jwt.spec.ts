import { FakeClock } from '../../../kernel/src/clock.fake';
import { Settings } from '#libs/platform/config';
import { type CryptoKey, SignJWT, exportJWK, generateKeyPair } from 'jose';
import { readClientKeys } from './client-keys';
import { ClientAssertionsJwt } from './client-assertions.jwt';

const BASE = 'https://api.example.com';
const ISSUER = 'https://issuer.example';
const START = Date.UTC(2026, 10, 1);

describe('A check of assertions', () => {
  let clock: FakeClock;
  let assertions: ClientAssertionsJwt;
  beforeEach(() => {
    clock = new FakeClock(START);
    assertions = aCheck();
  });

  const aCheck = (production = false) =>
    new ClientAssertionsJwt(Object.assign(new Settings(), { baseUrl: BASE, production }), clock);
  const aKey = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const [key] = await readClientKeys(JSON.stringify({ ...(await exportJWK(publicKey)), kid }));
    if (!key) throw new Error('The key was not read.');
    return { privateKey, key: { ...key, id: kid } };
  };
  const at = (seconds: number): number => START / 1_000 + seconds;
  const sign = (claims: object, key: CryptoKey, header: object = {}) =>
    new SignJWT({ aud: BASE, exp: at(60), jti: 'x', ...claims })
      .setProtectedHeader({ alg: 'ES256', ...header })
      .sign(key);
  const own = { iss: 'ci_1', sub: 'ci_1' };
  const workload = (key: object, changes: object = {}) => ({
    issuer: ISSUER,
    trusts: [{ id: 't', subject: 's', audience: null, insecure: false, keys: [key as never], ...changes }],
  });

  it('allows clocks to differ by 30 seconds, however they step', async () => {
    const { privateKey, key } = await aKey('k');
    const check = async (claims: object) =>
      'key' in
      (await assertions.check(await sign({ ...own, ...claims }, privateKey), {
        clientId: 'ci_1',
        keys: [key],
        oldAudience: false,
      }));
    const token = { iat: at(0), nbf: at(0), exp: at(60) };
    for (const [step, isRight] of [
      [0, true],
      [89, true],
      [2, false],
      [-91, true],
      [-29, true],
      [-3, false],
    ] as const) {
      clock.advance(step * 1_000);
      expect([clock.now() - START, await check(token)]).toEqual([clock.now() - START, isRight]);
    }
    clock.advance(32_000);
    expect([await check({ exp: at(3_629) }), await check({ exp: at(3_632) })]).toEqual([true, false]);
  });

  it('refuses an assertion without kid where more than three keys fit', async () => {
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(aKey));
    const keys = made.map(({ key }) => key);
    const last = made[2]?.privateKey as CryptoKey;
    const check = (count: number, token: string) =>
      assertions.check(token, { clientId: 'ci_1', keys: keys.slice(0, count), oldAudience: false });
    const nameless = await sign(own, last);
    expect(await check(3, nameless)).toMatchObject({ key: { kid: 'c' } });
    expect(await check(4, nameless)).toEqual({ fault: 'too many keys fit' });
    expect(await check(4, await sign(own, last, { kid: 'c' }))).toMatchObject({ key: { kid: 'c' } });
  });

  it('takes workload tokens for a day, and never our own', async () => {
    const { privateKey, key } = await aKey('k');
    const check = async (claims: object, issuer = ISSUER) => {
      const token = await sign({ iss: issuer, sub: 's', ...claims }, privateKey, { kid: 'k' });
      return assertions.checkWorkload(token, { ...workload(key), issuer });
    };
    expect(await check({ exp: at(86_400) })).toMatchObject({ trust: { id: 't' }, key: { kid: 'k' } });
    expect(await check({ exp: at(86_432) })).toEqual({ fault: 'expiry too far' });
    expect(await check({}, BASE)).toEqual({ fault: 'our own token' });
    expect(await check({ sub: ['s'] })).toEqual({ fault: 'subject' });
  });

  it('tries few keys, even where an issuer gives one id to many', async () => {
    const made = await Promise.all(['k', 'k', 'k', 'k'].map(aKey));
    const token = await sign({ iss: ISSUER, sub: 's' }, made[0]?.privateKey as CryptoKey, { kid: 'k' });
    const keys = made.map(({ key }) => key);
    expect(await assertions.checkWorkload(token, workload({}, { keys }))).toEqual({ fault: 'too many keys fit' });
    expect(await assertions.checkWorkload(token, workload({}, { keys: keys.slice(1) }))).toMatchObject({
      fault: expect.stringContaining('SIGNATURE') as string,
    });
  });

  it('takes each trust with its own keys, subject and audience', async () => {
    const [one, two] = [await aKey('k'), await aKey('k')];
    const trusts = [
      { id: 'one', subject: 'a', audience: null, insecure: false, keys: [one.key] },
      { id: 'two', subject: 'b', audience: 'other', insecure: false, keys: [two.key, one.key] },
    ];
    const check = async (claims: object, key: CryptoKey) =>
      assertions.checkWorkload(await sign({ iss: ISSUER, ...claims }, key, { kid: 'k' }), { issuer: ISSUER, trusts });
    expect(await check({ sub: 'a' }, one.privateKey)).toMatchObject({ trust: { id: 'one' } });
    expect(await check({ sub: 'b', aud: 'other' }, one.privateKey)).toMatchObject({ trust: { id: 'two' } });
    expect(await check({ sub: 'a' }, two.privateKey)).toEqual({ fault: 'audience' });
    expect(await check({ sub: 'a', aud: 'other' }, one.privateKey)).toEqual({ fault: 'audience' });
  });

  it('refuses insecure issuers in production, and counts key ids that a trusted issuer does not have', async () => {
    const { privateKey, key } = await aKey('k');
    const token = await sign({ iss: ISSUER, sub: 's' }, privateKey, { kid: 'k' });
    expect(await assertions.checkWorkload(token, workload(key, { insecure: true }))).toMatchObject({
      trust: { id: 't' },
    });
    expect(await aCheck(true).checkWorkload(token, workload(key, { insecure: true }))).toEqual({
      fault: 'no key fits',
    });
    await assertions.checkWorkload(token, { issuer: ISSUER, trusts: [] });
    expect(assertions.unknownKeyIds).toBe(0);
    await assertions.checkWorkload(token, workload(key, { keys: [] }));
    expect(assertions.unknownKeyIds).toBe(1);
  });
});
