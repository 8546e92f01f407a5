import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { Metrics } from '#libs/platform/observability';
import type { JWTPayload, JWTVerifyOptions } from 'jose';
import {
  CLIENT_ALGORITHMS,
  type ClientKey,
  type Members,
  unverifiedClaims,
  unverifiedHeader,
} from '../domain/client-assertion';
import {
  type CheckedAssertion,
  type CheckedWorkload,
  ClientAssertions,
  type ClientFacts,
  type Refusal,
} from '../domain/client-assertions.port';
import { type Trust, coversSubject } from '../domain/trusted-issuer';

const LEEWAY_SECONDS = 30;
const LONGEST_LIFE_SECONDS = 3_600;
const LONGEST_WORKLOAD_LIFE_SECONDS = 86_400;
/** An assertion is tried with so many keys at most. An issuer may give one `kid` to many. */
const KEYS_TO_TRY = 3;
/** The `typ` of an assertion that names the issuer alone as its audience (RFC 10070, the update of RFC 7523). */
const CLIENT_AUTHENTICATION = 'client-authentication+jwt';

const NO_KEY_FITS = 'no key fits';
const UNREADABLE = 'unreadable';

/** Rules for a token, whoever signs it. */
interface Rules {
  readonly types: readonly string[];
  readonly longestSeconds: number;
  readonly claims: JWTVerifyOptions;
}

/** Each check names its source. RFC 8725 is the best current practice for JWTs. */
@Injectable()
export class ClientAssertionsJwt extends ClientAssertions {
  /** Tokens that name a trusted issuer, and a `kid` that is not in its stored set with this algorithm. */
  unknownKeyIds = 0;
  /** Keys that nobody has, by algorithm, so that a client without keys takes as long as another one. */
  private readonly decoys = new Map<string, ReturnType<typeof makeDecoy>>();

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    super();
    const help = 'Tokens that name a trusted issuer and were refused because their kid is not in its stored key set.';
    metrics.counts({ name: 'compliance_unknown_key_ids_total', help }, () => [
      { labels: {}, value: this.unknownKeyIds },
    ]);
  }

  async check(assertion: string, clientId: string, { keys, oldAudience }: ClientFacts): Promise<CheckedAssertion> {
    const { baseUrl } = this.settings;
    const verified = await this.verify(assertion, keys, {
      types: ['jwt', CLIENT_AUTHENTICATION],
      longestSeconds: LONGEST_LIFE_SECONDS,
      // RFC 7523, 3 (1 and 2); OpenID Connect Core, 9.
      claims: { issuer: clientId, subject: clientId, requiredClaims: ['exp', 'jti'] },
    });
    if ('fault' in verified) return verified;
    const { key, claims } = verified;
    // RFC 7523, 3 (3), and its update: the authorization server is the only audience.
    const isOldAllowed = oldAudience && mediaType(verified.typ) !== CLIENT_AUTHENTICATION;
    const audiences = isOldAllowed ? [baseUrl, `${baseUrl}/oauth/token`] : [baseUrl];
    if (!audiences.some((one) => one === audienceOf(claims))) return { fault: 'audience' };
    // OpenID Connect Core, 9.
    if (typeof claims.jti !== 'string' || claims.jti === '') return { fault: 'jti' };
    return { key, expiresAt: new Date(((claims.exp ?? 0) + LEEWAY_SECONDS) * 1_000) };
  }

  async checkWorkload(token: string, issuer: string, trusts: readonly Trust[]): Promise<CheckedWorkload> {
    const { baseUrl, production } = this.settings;
    const usable = trusts.filter(({ insecure }) => !(insecure && production));
    // A signature covers the claims, so a verified token has those that are read here.
    const claims = unverifiedClaims(token) ?? {};
    const { sub } = claims;
    // RFC 8725, 3.8 and 3.9.
    const ofSubject = usable.filter(({ subject }) => typeof sub === 'string' && coversSubject(subject, sub));
    const named = ofSubject.filter(({ audience }) => (audience ?? baseUrl) === audienceOf(claims));
    const tried = named.length > 0 ? named : usable;
    // Two trusts in one issuer hold the same keys.
    const keys = new Map(
      tried.flatMap((trust) => trust.keys.map((key) => [JSON.stringify(key), { ...key, trust }] as const)),
    );
    const verified = await this.verify(token, [...keys.values()], {
      types: ['jwt'],
      longestSeconds: LONGEST_WORKLOAD_LIFE_SECONDS,
      claims: { issuer, requiredClaims: ['exp', 'sub'] },
    });
    if ('fault' in verified) {
      if (usable.length === 0) return { fault: 'no usable trust in the issuer' };
      const namesKey = unverifiedHeader(token)?.['kid'] !== undefined;
      if (namesKey && verified.fault === NO_KEY_FITS) this.unknownKeyIds += 1;
      return verified;
    }
    if (named.length === 0) return { fault: ofSubject.length === 0 ? 'subject' : 'audience' };
    return { trust: verified.key.trust, key: verified.key };
  }

  private async verify<Key extends ClientKey>(
    token: string,
    keys: readonly Key[],
    rules: Rules,
  ): Promise<{ readonly key: Key; readonly typ: unknown; readonly claims: JWTPayload } | Refusal> {
    // Begun with the first assertion, so that no later one without a key that fits waits for a key of RSA.
    CLIENT_ALGORITHMS.filter((one) => !this.decoys.has(one)).forEach((one) => this.keepDecoy(one));
    const header = unverifiedHeader(token);
    if (!header) return { fault: UNREADABLE };
    const algorithm = header['alg'] as string;
    const fault = headerFault(header, rules.types);
    const fitting = fault === null ? keys.filter((key) => fits(key, header)) : [];
    if (fitting.length === 0) {
      // `none` and HMAC have no decoy: they are refused before any verification.
      const decoy = await this.decoys.get(algorithm);
      if (decoy) await this.tryKey(token, decoy, algorithm, rules);
      return { fault: fault ?? NO_KEY_FITS };
    }
    const faults = new Set<string | null>();
    for (const key of fitting.slice(0, KEYS_TO_TRY)) {
      const tried = await this.tryKey(token, key.jwk, algorithm, rules);
      // It is refused after as many verifications as three keys take, so time does not tell three from more.
      if (fitting.length > KEYS_TO_TRY) continue;
      if ('claims' in tried) return { key, typ: header['typ'], claims: tried.claims };
      faults.add(tried.fault);
    }
    return { fault: [...faults].join(', ') || 'too many keys fit' };
  }

  /** Verifies the signature by one algorithm of the key (RFC 8725, 3.1), and what every token claims. */
  private async tryKey(
    token: string,
    jwk: ClientKey['jwk'],
    algorithm: string,
    { claims, longestSeconds }: Rules,
  ): Promise<{ readonly claims: JWTPayload } | Refusal> {
    // Loaded with the first assertion, so that requests by secret never pay for it.
    const { jwtVerify } = await import('jose');
    const now = this.clock.now();
    try {
      const { payload } = await jwtVerify(
        token,
        { ...jwk },
        {
          ...claims,
          algorithms: [algorithm],
          // RFC 7523, 3 (4 and 5).
          clockTolerance: LEEWAY_SECONDS,
          currentDate: new Date(now),
        },
      );
      const { exp = 0, iat = 0 } = payload;
      const latest = now / 1_000 + LEEWAY_SECONDS;
      // RFC 7523, 3 (4): a time unreasonably far in the future.
      if (!(exp <= latest + longestSeconds)) return { fault: 'expiry too far' };
      // RFC 7523, 3 (6).
      return iat <= latest ? { claims: payload } : { fault: 'issued in the future' };
    } catch (error) {
      const { code = UNREADABLE, claim = '' } = error as { readonly code?: string; readonly claim?: string };
      return { fault: `${code} ${claim}`.trim() };
    }
  }

  private keepDecoy(algorithm: string): void {
    const made = makeDecoy(algorithm);
    this.decoys.set(algorithm, made);
    made.catch(() => this.decoys.delete(algorithm));
  }
}

function headerFault({ alg, crit, typ }: Members, types: readonly string[]): string | null {
  // RFC 8725, 3.1 and 3.2: neither `none` nor a shared secret.
  if (!CLIENT_ALGORITHMS.includes(alg as string)) return 'algorithm';
  // RFC 7515, 4.1.11: no extension is supported.
  if (crit !== undefined) return 'critical extension';
  // RFC 8725, 3.11: other kinds of JWT, such as our own tokens, are none.
  if (typ !== undefined && !types.includes(mediaType(typ))) return 'type';
  return null;
}

/** RFC 7515, 4.1.9: compared as a media type, whose `application/` may be left out. */
const mediaType = (typ: unknown): string =>
  typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : '';

const fits = ({ kid, algorithms }: ClientKey, header: Members): boolean =>
  algorithms.includes(header['alg'] as string) && (header['kid'] === undefined || header['kid'] === kid);

/** The audience, alone or in an array of one. Null for any other. */
function audienceOf({ aud }: Members): string | null {
  const [only, ...others] = Array.isArray(aud) ? (aud as unknown[]) : [aud];
  return typeof only === 'string' && others.length === 0 ? only : null;
}

async function makeDecoy(algorithm: string): Promise<ClientKey['jwk']> {
  const { exportJWK, generateKeyPair } = await import('jose');
  const { publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return (await exportJWK(publicKey)) as ClientKey['jwk'];
}
