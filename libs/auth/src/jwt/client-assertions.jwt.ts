import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import type { JWTPayload, ProtectedHeaderParameters } from 'jose';
import { CLIENT_ALGORITHMS, type StoredClientKey } from '../domain/client-assertion';
import { type CheckedAssertion, ClientAssertions, type ExpectedAssertion } from '../domain/client-assertions.port';

const LEEWAY_SECONDS = 30;
const LONGEST_LIFE_SECONDS = 3_600;
/** An assertion without `kid` is tried with so many keys at most. */
const KEYS_TO_TRY = 3;
/** The `typ` of an assertion that names the issuer alone as its audience (the update of RFC 7523). */
const CLIENT_AUTHENTICATION = 'client-authentication+jwt';

/** Each check names its source. RFC 8725 is the best current practice for JWTs. */
@Injectable()
export class ClientAssertionsJwt extends ClientAssertions {
  private decoys: Promise<ReadonlyMap<string, StoredClientKey>> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    super();
  }

  async check(assertion: string, expected: ExpectedAssertion): Promise<CheckedAssertion> {
    // Loaded with the first assertion, so that requests by secret never pay for it.
    const jose = await import('jose');
    const header = headerOf(() => jose.decodeProtectedHeader(assertion));
    const fault = headerFault(header);
    const fitting = fault === null ? expected.keys.filter((key) => fits(key, header)) : [];
    const isTooMany = header.kid === undefined && fitting.length > KEYS_TO_TRY;
    let result: CheckedAssertion = { fault: fault ?? (isTooMany ? 'too many keys fit' : 'no key fits') };
    const tried = fitting.length === 0 || isTooMany ? [await this.decoy(header.alg)] : fitting;
    for (const key of tried) {
      const checked = await this.verify(assertion, header, key, expected);
      if (!fitting.includes(key) || isTooMany) continue;
      if ('key' in checked) return checked;
      result = checked;
    }
    return result;
  }

  private async verify(
    assertion: string,
    header: ProtectedHeaderParameters,
    key: StoredClientKey,
    { clientId, oldAudience }: ExpectedAssertion,
  ): Promise<CheckedAssertion> {
    const { importJWK, jwtVerify } = await import('jose');
    const now = this.clock.now();
    const { baseUrl } = this.settings;
    const isOldAllowed = oldAudience && mediaType(header.typ) !== CLIENT_AUTHENTICATION;
    try {
      // RFC 8725, 3.1: the key decides about the algorithm. A decoy has one of its own.
      const algorithm = key.algorithms.find((known) => known === header.alg) ?? key.algorithms[0] ?? '';
      const { payload } = await jwtVerify(assertion, await importJWK({ ...key.jwk }, algorithm), {
        algorithms: [algorithm],
        // RFC 7523, 3 (1, 2 and 3); OpenID Connect Core, 9.
        issuer: clientId,
        subject: clientId,
        audience: isOldAllowed ? [baseUrl, `${baseUrl}/oauth/token`] : baseUrl,
        // RFC 7523, 3 (4 and 5).
        requiredClaims: ['exp', 'jti'],
        clockTolerance: LEEWAY_SECONDS,
        currentDate: new Date(now),
      });
      const fault = claimFault(payload, now / 1_000);
      if (fault !== null) return { fault };
      return { key, expiresAt: new Date(((payload.exp ?? 0) + LEEWAY_SECONDS) * 1_000) };
    } catch (error) {
      const { code = 'unreadable', claim = '' } = error as { readonly code?: string; readonly claim?: string };
      return { fault: `${code} ${claim}`.trim() };
    }
  }

  /** A key that nobody has, so that a client without keys takes as long as another one. */
  private async decoy(algorithm: unknown): Promise<StoredClientKey> {
    this.decoys ??= makeDecoys();
    const decoys = await this.decoys;
    return (decoys.get(String(algorithm)) ?? decoys.get('ES256')) as StoredClientKey;
  }
}

/** Empty when it cannot be read. */
function headerOf(decode: () => ProtectedHeaderParameters): ProtectedHeaderParameters {
  try {
    return decode();
  } catch {
    return {};
  }
}

function headerFault(header: ProtectedHeaderParameters): string | null {
  // RFC 8725, 3.1 and 3.2: neither `none` nor a shared secret.
  if (typeof header.alg !== 'string' || !CLIENT_ALGORITHMS.includes(header.alg)) return 'algorithm';
  // RFC 7515, 4.1.11: no extension is supported.
  if (header.crit !== undefined) return 'critical extension';
  if (header.kid !== undefined && typeof header.kid !== 'string') return 'key id';
  // RFC 8725, 3.11: other kinds of JWT, such as our own tokens, are none.
  if (header.typ !== undefined && !['jwt', CLIENT_AUTHENTICATION].includes(mediaType(header.typ))) return 'type';
  return null;
}

/** RFC 7515, 4.1.9: compared as a media type, whose `application/` may be left out. */
const mediaType = (typ: unknown): string =>
  typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : '';

const fits = ({ kid, algorithms }: StoredClientKey, header: ProtectedHeaderParameters): boolean =>
  algorithms.includes(String(header.alg)) && (header.kid === undefined || header.kid === kid);

function claimFault({ aud, exp = 0, iat, jti }: JWTPayload, nowSeconds: number): string | null {
  // The update of RFC 7523: the authorization server is the only audience.
  if (Array.isArray(aud) && aud.length !== 1) return 'audience';
  // RFC 7523, 3 (4): a time unreasonably far in the future.
  if (!(exp <= nowSeconds + LONGEST_LIFE_SECONDS + LEEWAY_SECONDS)) return 'expiry too far';
  // RFC 7523, 3 (6).
  if (iat !== undefined && !(iat <= nowSeconds + LEEWAY_SECONDS)) return 'issued in the future';
  // OpenID Connect Core, 9.
  return typeof jti === 'string' && jti !== '' ? null : 'jti';
}

async function makeDecoys(): Promise<ReadonlyMap<string, StoredClientKey>> {
  const { exportJWK, generateKeyPair } = await import('jose');
  // Nobody knows its factors, and none are needed to verify.
  const modulus = randomBytes(256);
  modulus[0] = 0xc0 | Number(modulus[0]);
  modulus[255] = 1 | Number(modulus[255]);
  const rsa = { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' };
  const decoys = await Promise.all(
    CLIENT_ALGORITHMS.map(async (algorithm) => {
      const isRsa = algorithm === 'RS256' || algorithm === 'PS256';
      const jwk = isRsa ? rsa : await exportJWK((await generateKeyPair(algorithm, { extractable: true })).publicKey);
      return [algorithm, { id: '', kid: '', algorithms: [algorithm], jwk: jwk as Record<string, string> }] as const;
    }),
  );
  return new Map(decoys);
}
