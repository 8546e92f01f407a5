import { KeyObject, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { FakeClock } from '../../../kernel/src/clock.fake';
import { Settings } from '#libs/platform/config';
import { Metrics } from '#libs/platform/observability';
import { type CryptoKey, SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { CLIENT_ALGORITHMS } from '../domain/client-assertion';
import { readClientKeys } from './public-jwks';
import { ClientAssertionsJwt } from './client-assertions.jwt';

const BASE = 'https://api.example.com';
const ISSUER = 'https://issuer.example';
const START = Date.UTC(2026, 10, 1);
const WRONG_SIGNATURE = { fault: expect.stringContaining('SIGNATURE') as string };

describe('A check of assertions', () => {
  const clock = new FakeClock(START);
  const aCheck = (production = false) =>
    new ClientAssertionsJwt(Object.assign(new Settings(), { baseUrl: BASE, production }), clock, new Metrics());
  // Shared, because each one makes keys of RSA.
  const assertions = aCheck();
  beforeEach(() => clock.advance(START - clock.now()));

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
  /** Signs what `jose` would not. */
  const signAny = (header: unknown, claims: object, key: CryptoKey) => {
    const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const with1363 = { key: KeyObject.from(key as never), dsaEncoding: 'ieee-p1363' } as const;
    return `${text}.${signBytes('sha256', Buffer.from(text), with1363).toString('base64url')}`;
  };
  const trusting = (key: object, changes: object = {}) => [
    { id: 't', subject: 's', audience: null, insecure: false, keys: [key as never], ...changes },
  ];

  it('allows clocks to differ by 30 seconds, however they step', async () => {
    const { privateKey, key } = await aKey('k');
    const check = async (claims: object) =>
      'key' in
      (await assertions.check(await sign({ ...own, ...claims }, privateKey), 'ci_1', {
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

  it('parses neither header nor claims of thousands of levels, signed or not', async () => {
    const { privateKey, key } = await aKey('k');
    const deep = Buffer.from(`${'['.repeat(7_000)}${'[0,'.repeat(1_400)}{`);
    const [header] = (await sign(own, privateKey)).split('.');
    const text = `${header}.${deep.toString('base64url')}`;
    const with1363 = { key: KeyObject.from(privateKey as never), dsaEncoding: 'ieee-p1363' } as const;
    const signed = `${text}.${signBytes('sha256', Buffer.from(text), with1363).toString('base64url')}`;
    const parse = jest.spyOn(JSON, 'parse');

    for (const token of [signed, `${deep.toString('base64url')}.e30.x`]) {
      expect(await assertions.check(token, 'ci_1', { keys: [key], oldAudience: false })).toEqual({
        fault: 'unreadable',
      });
      expect(await assertions.checkWorkload(token, ISSUER, trusting(key))).toEqual({ fault: 'unreadable' });
    }
    expect(parse.mock.calls.some(([text]) => text.startsWith('[[['))).toBe(false);
    parse.mockRestore();
  });

  it('refuses an assertion without kid where more than three keys fit', async () => {
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(aKey));
    const keys = made.map(({ key }) => key);
    const last = made[2]?.privateKey as CryptoKey;
    const check = (count: number, token: string) =>
      assertions.check(token, 'ci_1', { keys: keys.slice(0, count), oldAudience: false });
    const nameless = await sign(own, last);
    expect(await check(3, nameless)).toMatchObject({ key: { kid: 'c' } });
    expect(await check(4, nameless)).toEqual({ fault: 'too many keys fit' });
    expect(await check(4, await sign(own, last, { kid: 'c' }))).toMatchObject({ key: { kid: 'c' } });
  });

  it('is valid until the leeway is over', async () => {
    const { privateKey, key } = await aKey('k');
    const checked = await assertions.check(await sign(own, privateKey), 'ci_1', { keys: [key], oldAudience: false });
    expect(checked).toEqual({ key, expiresAt: new Date(START + 90_000) });
  });

  it.each<[object, string]>([
    [{ exp: undefined }, 'exp'],
    [{ iss: 'ci_2' }, 'iss'],
    [{ sub: 'ci_2' }, 'sub'],
    [{ jti: undefined }, 'jti'],
    [{ jti: '' }, 'jti'],
    [{ jti: 7 }, 'jti'],
    [{ iat: at(31) }, 'issued in the future'],
    [{ aud: [BASE, 'https://other.example'] }, 'audience'],
    [{ aud: `${BASE}/oauth/token` }, 'audience'],
  ])('refuses the claims %j', async (claims, fault) => {
    const { privateKey, key } = await aKey('k');
    const token = signAny({ alg: 'ES256' }, { aud: BASE, exp: at(60), jti: 'x', ...own, ...claims }, privateKey);
    const checked = await assertions.check(token, 'ci_1', { keys: [key], oldAudience: false });
    expect(checked).toEqual({ fault: expect.stringMatching(new RegExp(`(^| )${fault}$`)) as string });
  });

  it.each<[object, string]>([
    [{ alg: 'none' }, 'algorithm'],
    [{ alg: 'HS256' }, 'algorithm'],
    [{ alg: ['ES256'] }, 'algorithm'],
    [{ alg: 'ES256', crit: ['exp'], exp: 1 }, 'critical extension'],
    [{ alg: 'ES256', crit: ['b64'], b64: false }, 'critical extension'],
    [{ alg: 'ES256', kid: 7 }, 'no key fits'],
    [{ alg: 'ES256', kid: 'K' }, 'no key fits'],
    [{ alg: 'ES384', kid: 'k' }, 'no key fits'],
    [{ alg: 'ES256', typ: 'at+jwt' }, 'type'],
    [{ alg: 'ES256', typ: {} }, 'type'],
  ])('refuses the header %j of the right key', async (header, fault) => {
    const { privateKey, key } = await aKey('k');
    const token = (iss: string) => signAny(header, { ...own, iss, aud: BASE, exp: at(60), jti: 'x' }, privateKey);
    const checked = await assertions.check(token('ci_1'), 'ci_1', { keys: [key], oldAudience: false });
    expect(checked).toEqual({ fault });
    expect(await assertions.checkWorkload(token(ISSUER), ISSUER, trusting(key, { subject: 'ci_1' }))).toEqual({
      fault,
    });
  });

  it('compares types as media types, and takes the type of an assertion for one alone', async () => {
    const { privateKey, key } = await aKey('k');
    const check = async (typ: string) =>
      assertions.check(await sign(own, privateKey, { typ }), 'ci_1', { keys: [key], oldAudience: false });
    for (const typ of [
      'JWT',
      'jwt',
      'application/JWT',
      'Client-Authentication+jwt',
      'application/client-authentication+jwt',
    ])
      expect(await check(typ)).toMatchObject({ key });
    const token = (typ: string) => sign({ iss: ISSUER, sub: 's' }, privateKey, { typ });
    expect(await assertions.checkWorkload(await token('application/JWT'), ISSUER, trusting(key))).toMatchObject({
      key,
    });
    expect(await assertions.checkWorkload(await token('client-authentication+jwt'), ISSUER, trusting(key))).toEqual({
      fault: 'type',
    });
  });

  it('tells of each key that fits why it was refused', async () => {
    const [one, two] = [await aKey('a'), await aKey('b')];
    const facts = { keys: [one.key, two.key], oldAudience: false };
    const check = async (key: CryptoKey) => assertions.check(await sign({ ...own, exp: at(-60) }, key), 'ci_1', facts);
    const [expired, forged] = ['ERR_JWT_EXPIRED exp', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'];
    expect(await check(one.privateKey)).toEqual({ fault: `${expired}, ${forged}` });
    expect(await check(two.privateKey)).toEqual({ fault: `${forged}, ${expired}` });
    expect(await check((await aKey('c')).privateKey)).toEqual({ fault: forged });
  });

  it('verifies as often as keys fit, three times at most, and once where none does', async () => {
    const made = await Promise.all(['a', 'b', 'c', 'd'].map(aKey));
    const keys = made.map(({ key }) => key);
    const token = await sign(own, (await aKey('x')).privateKey);
    const verifications = jest.spyOn(globalThis.crypto.subtle, 'verify');
    const counted = async (count: number) => {
      verifications.mockClear();
      await assertions.check(token, 'ci_1', { keys: keys.slice(0, count), oldAudience: false });
      return verifications.mock.calls.length;
    };
    expect([await counted(0), await counted(1), await counted(3), await counted(4)]).toEqual([1, 1, 3, 3]);
    verifications.mockRestore();
  });

  it('makes the keys that nobody has with the first assertion, whose own key fits', async () => {
    const { privateKey, key } = await aKey('k');
    const made = jest.spyOn(globalThis.crypto.subtle, 'generateKey');
    const fresh = aCheck();
    const check = async (keys: (typeof key)[], alg: string) =>
      fresh.check(signAny({ alg }, { ...own, aud: BASE, exp: at(60), jti: 'x' }, privateKey), 'ci_1', {
        ...{ keys, oldAudience: false },
      });

    await check([key], 'ES256');
    const atFirst = made.mock.calls.length;
    for (const alg of CLIENT_ALGORITHMS) await check([], alg);

    expect([atFirst, made.mock.calls.length]).toEqual([CLIENT_ALGORITHMS.length, CLIENT_ALGORITHMS.length]);
    made.mockRestore();
  });

  it('makes a key that nobody has again when that failed', async () => {
    const token = await sign(own, (await aKey('k')).privateKey);
    const fresh = aCheck();
    const check = () => fresh.check(token, 'ci_1', { keys: [], oldAudience: false });
    const made = jest.spyOn(globalThis.crypto.subtle, 'generateKey').mockRejectedValue(new Error('no memory'));

    await expect(check()).rejects.toThrow('no memory');
    made.mockRestore();

    expect(await check()).toEqual({ fault: 'no key fits' });
  });

  it.each<[object, string]>([
    [{ iss: 'https://other.example' }, 'iss'],
    [{ exp: undefined }, 'exp'],
    [{ sub: undefined }, 'sub'],
    [{ sub: ['s'] }, 'subject'],
    [{ iat: at(31) }, 'issued in the future'],
    [{ nbf: at(31) }, 'nbf'],
  ])('refuses a workload token with %j', async (claims, fault) => {
    const { privateKey, key } = await aKey('k');
    const token = signAny({ alg: 'ES256' }, { iss: ISSUER, sub: 's', aud: BASE, exp: at(60), ...claims }, privateKey);
    const checked = await assertions.checkWorkload(token, ISSUER, trusting(key));
    expect(checked).toEqual({ fault: expect.stringMatching(new RegExp(`(^| )${fault}$`)) as string });
  });

  it('takes workload tokens for a day', async () => {
    const { privateKey, key } = await aKey('k');
    const check = async (claims: object) =>
      assertions.checkWorkload(
        await sign({ iss: ISSUER, sub: 's', ...claims }, privateKey, { kid: 'k' }),
        ISSUER,
        trusting(key),
      );
    expect(await check({ exp: at(86_400) })).toMatchObject({ trust: { id: 't' }, key: { kid: 'k' } });
    expect(await check({ exp: at(86_432) })).toEqual({ fault: 'expiry too far' });
    expect(await check({ sub: ['s'] })).toEqual({ fault: 'subject' });
  });

  it('tries few keys, even where an issuer gives one id to many', async () => {
    const made = await Promise.all(['k', 'k', 'k', 'k'].map(aKey));
    const token = await sign({ iss: ISSUER, sub: 's' }, made[0]?.privateKey as CryptoKey, { kid: 'k' });
    const keys = made.map(({ key }) => key);
    expect(await assertions.checkWorkload(token, ISSUER, trusting({}, { keys }))).toEqual({
      fault: 'too many keys fit',
    });
    expect(await assertions.checkWorkload(token, ISSUER, trusting({}, { keys: keys.slice(1) }))).toEqual(
      WRONG_SIGNATURE,
    );
  });

  it('takes each trust with its own keys, subject and audience', async () => {
    const [one, two] = [await aKey('k'), await aKey('k')];
    const trusts = [
      { id: 'one', subject: 'a', audience: null, insecure: false, keys: [one.key] },
      { id: 'two', subject: 'b', audience: 'other', insecure: false, keys: [two.key, one.key] },
    ];
    const check = async (claims: object, key: CryptoKey) =>
      assertions.checkWorkload(await sign({ iss: ISSUER, ...claims }, key, { kid: 'k' }), ISSUER, trusts);
    expect(await check({ sub: 'a' }, one.privateKey)).toMatchObject({ trust: { id: 'one' } });
    expect(await check({ sub: 'b', aud: 'other' }, one.privateKey)).toMatchObject({ trust: { id: 'two' } });
    expect(await check({ sub: 'a' }, two.privateKey)).toEqual(WRONG_SIGNATURE);
    expect(await check({ sub: 'a', aud: 'other' }, one.privateKey)).toEqual({ fault: 'audience' });
  });

  it('takes trusts in one subject each with its own keys and audience', async () => {
    const [one, two] = [await aKey('k'), await aKey('k')];
    const of = { subject: 's', insecure: false };
    const trusts = [
      { ...of, id: 'one', audience: null, keys: [one.key] },
      { ...of, id: 'two', audience: 'other', keys: [two.key] },
    ];
    const check = async (aud: string, key: CryptoKey) => {
      const token = await sign({ iss: ISSUER, sub: 's', aud }, key, { kid: 'k' });
      return assertions.checkWorkload(token, ISSUER, trusts);
    };
    expect(await check(BASE, one.privateKey)).toMatchObject({ trust: { id: 'one' } });
    expect(await check('other', two.privateKey)).toMatchObject({ trust: { id: 'two' } });
    expect(await check('other', one.privateKey)).toEqual(WRONG_SIGNATURE);
    expect(await check(BASE, two.privateKey)).toEqual(WRONG_SIGNATURE);
  });

  it('counts the keys of those trusts alone that a token without kid names', async () => {
    const made = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(aKey));
    const [own, ...others] = made.map(({ key }) => key);
    const of = { audience: null, insecure: false };
    const trusts = [
      { ...of, id: 'one', subject: 's', keys: [own as never] },
      { ...of, id: 'two', subject: 'other', keys: others },
    ];
    const check = async (sub: string) => {
      const token = await sign({ iss: ISSUER, sub }, made[0]?.privateKey as CryptoKey);
      return assertions.checkWorkload(token, ISSUER, trusts);
    };
    expect(await check('s')).toMatchObject({ trust: { id: 'one' } });
    expect(await check('other')).toEqual({ fault: 'too many keys fit' });
    expect(await check('nobody')).toEqual({ fault: 'too many keys fit' });
  });

  it('takes either of two trusts that cover a subject, each with its own keys', async () => {
    const [one, two] = [await aKey('a'), await aKey('b')];
    const of = { audience: null, insecure: false };
    const trusts = [
      { ...of, id: 'one', subject: 'repo:acme/*', keys: [one.key] },
      { ...of, id: 'two', subject: 'repo:acme/app:*', keys: [two.key] },
    ];
    const check = async (key: CryptoKey) => {
      const token = await sign({ iss: ISSUER, sub: 'repo:acme/app:x' }, key);
      return assertions.checkWorkload(token, ISSUER, trusts);
    };
    expect(await check(one.privateKey)).toMatchObject({ trust: { id: 'one' } });
    expect(await check(two.privateKey)).toMatchObject({ trust: { id: 'two' } });
  });

  it.each<[unknown]>([[undefined], [[]], [['', 'other']], [7]])('never takes %j for an empty audience', async (aud) => {
    const { privateKey, key } = await aKey('k');
    const token = signAny({ alg: 'ES256' }, { iss: ISSUER, sub: 's', exp: at(60), aud }, privateKey);
    expect(await assertions.checkWorkload(token, ISSUER, trusting(key, { audience: '' }))).toEqual({
      fault: 'audience',
    });
  });

  it('refuses insecure issuers in production, and counts key ids that a trusted issuer does not have', async () => {
    const { privateKey, key } = await aKey('k');
    const token = await sign({ iss: ISSUER, sub: 's' }, privateKey, { kid: 'k' });
    expect(await assertions.checkWorkload(token, ISSUER, trusting(key, { insecure: true }))).toMatchObject({
      trust: { id: 't' },
    });
    expect(await aCheck(true).checkWorkload(token, ISSUER, trusting(key, { insecure: true }))).toEqual({
      fault: 'no usable trust in the issuer',
    });
    const before = assertions.unknownKeyIds;
    await assertions.checkWorkload(token, ISSUER, []);
    expect(assertions.unknownKeyIds).toBe(before);
    await assertions.checkWorkload(token, ISSUER, trusting(key, { keys: [] }));
    expect(assertions.unknownKeyIds).toBe(before + 1);
  });

  it.each([
    ['without a kid', { kid: undefined }],
    ['without a signature', { alg: 'none' }],
    ['of another type', { typ: 'at+jwt' }],
    ['with a critical extension', { crit: ['b64'], b64: true }],
  ])('does not count a token %s as one with an unknown key id', async (_, header) => {
    const { privateKey, key } = await aKey('k');
    const before = assertions.unknownKeyIds;

    const token = signAny({ alg: 'ES256', kid: 'k', ...header }, { iss: ISSUER, sub: 's' }, privateKey);
    await assertions.checkWorkload(token, ISSUER, trusting(key, { keys: [] }));

    expect(assertions.unknownKeyIds).toBe(before);
  });
});

describe('A public key of a client', () => {
  const jwkOf = (curve: 'P-256' | 'P-384' | 'P-521') =>
    generateKeyPairSync('ec', { namedCurve: curve }).publicKey.export({ format: 'jwk' });
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey.export({ format: 'jwk' });
  const bytesOf = (text = '') => Buffer.from(text, 'base64url');
  const padded = (text: string | undefined, zeros = 100_000) =>
    Buffer.concat([Buffer.alloc(zeros), bytesOf(text)]).toString('base64url');
  const read = async (jwk: object) => readClientKeys(JSON.stringify(jwk));

  it('is kept without leading zeros', async () => {
    const [ec, of] = [jwkOf('P-256'), rsa(2048)];
    expect(await read({ ...ec, x: padded(ec.x) })).toEqual(await read(ec));
    expect(await read({ ...of, n: padded(of.n), e: padded(of.e, 1) })).toEqual(await read(of));
  });

  it('has a kid of up to 200 characters, or its thumbprint', async () => {
    const jwk = jwkOf('P-256');
    const kid = 'ключ'.repeat(50);
    expect(await read({ ...jwk, kid })).toMatchObject([{ kid }]);
    expect(await read(jwk)).toMatchObject([{ kid: await calculateJwkThumbprint(jwk) }]);
    for (const other of [`${kid}x`, '', 'a\u0000', 'a\n', '\ud800'])
      await expect(read({ ...jwk, kid: other })).rejects.toThrow('no public JWK');
  });

  it('binds its algorithm', async () => {
    const of = rsa(2048);
    const algorithms = async (jwk: object) => (await read(jwk)).map((key) => key.algorithms);
    expect(await algorithms(of)).toEqual([['RS256', 'PS256']]);
    expect(await algorithms({ ...of, alg: 'PS256' })).toEqual([['PS256']]);
    const ed = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    for (const alg of [undefined, 'EdDSA', 'Ed25519'])
      expect(await algorithms({ ...ed, alg })).toEqual([['EdDSA', 'Ed25519']]);
    expect(await algorithms(jwkOf('P-384'))).toEqual([['ES384']]);
  });

  it.each<[string, () => object, string]>([
    ['RSA of 1024 bits', () => rsa(1024), '2048 to 4096'],
    ['RSA of 4104 bits', () => ({ ...rsa(2048), n: Buffer.alloc(513, 0xff).toString('base64url') }), '2048 to 4096'],
    ['RSA with the exponent 3', () => rsa(2048, 3), 'exponent 65537'],
    ['another curve', () => jwkOf('P-521'), 'The curve'],
    ['the curve of another key', () => ({ ...jwkOf('P-256'), crv: 'P-384' }), 'damaged'],
    ['a key for agreement', () => generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }), 'The curve'],
    ['a point beside the curve', () => ({ ...jwkOf('P-256'), y: jwkOf('P-256').y }), 'damaged'],
    ['a member that is no base64url', () => ({ ...jwkOf('P-256'), x: 'a b' }), 'damaged'],
    ['a private half', () => ({ ...jwkOf('P-256'), d: 'x' }), 'private key'],
    ['a shared secret', () => ({ kty: 'oct', k: 'AAAA' }), 'no public JWK'],
    ['another use', () => ({ ...jwkOf('P-256'), use: 'enc' }), 'use'],
    ['the algorithm of another key', () => ({ ...jwkOf('P-256'), alg: 'RS256' }), 'none of ES256'],
    ['HMAC', () => ({ ...rsa(2048), alg: 'HS256' }), 'none of RS256, PS256'],
    ['eleven keys', () => ({ keys: Array.from({ length: 11 }, () => jwkOf('P-256')) }), 'no set of 1 to 10'],
    ['a weak key among good ones', () => ({ keys: [jwkOf('P-256'), rsa(1024)] }), '2048 to 4096'],
  ])('is refused: %s', async (_, jwk, reason) => {
    await expect(read(jwk())).rejects.toThrow(reason);
  });
});
