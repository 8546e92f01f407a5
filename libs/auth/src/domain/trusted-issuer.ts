import type { ClientKey } from './client-assertion';

/** An issuer whose key set can be fetched. */
export interface TrustedIssuer {
  readonly issuer: string;
  /** A test issuer on a loopback address, without https. */
  readonly insecure: boolean;
  /** Operators may trust issuers in the networks of TRUST_ISSUER_NETWORKS. */
  readonly ofOperator: boolean;
}

/** Tokens of an issuer with this subject and audience prove the application. */
export interface Trust {
  readonly id: string;
  readonly subject: string;
  /** Null means the address of the API. */
  readonly audience: string | null;
  readonly insecure: boolean;
  /** Those of the issuer's keys that may have signed the token. */
  readonly keys: readonly ClientKey[];
}

export const MOST_ISSUER_KEYS = 100;
export const LARGEST_ISSUER_DOCUMENT = 262_144;

/** All reasons, which people of the console see. None quotes what an issuer sent, or tells of our own network. */
export const KEY_SET_FAULTS = {
  insecure: 'An insecure issuer is refused in production.',
  notHttps: 'An address of the issuer is not https://.',
  notReachable: 'The issuer has an address that is not reachable from everywhere.',
  notReached: 'The issuer could not be reached.',
  late: 'The issuer took too long.',
  not200: 'The issuer did not answer with 200.',
  large: `A document of the issuer is over ${LARGEST_ISSUER_DOCUMENT} bytes.`,
  noDiscovery: 'The discovery document names no issuer or no jwks_uri.',
  ofAnother: 'The discovery document is of another issuer.',
  noSet: 'The key set is no JWK set.',
  manyKeys: `The key set has more than ${MOST_ISSUER_KEYS} keys.`,
  noKey: 'The key set has no key that can be used here.',
};

/** The key set of an issuer cannot be had. */
export class KeySetUnavailable extends Error {
  constructor(fault: keyof typeof KEY_SET_FAULTS) {
    super(KEY_SET_FAULTS[fault]);
    this.name = 'KeySetUnavailable';
  }
}

/** The key sets that issuers publish. */
export abstract class IssuerKeys {
  /** @throws {@link KeySetUnavailable} */
  abstract fetch(issuer: TrustedIssuer): Promise<ClientKey[]>;
}

const LONGEST = 1_000;

/** Returns why an issuer cannot be trusted, or null. */
export function issuerFault(issuer: string, baseUrl: string, insecure: boolean): string | null {
  const protocols = insecure ? ['https:', 'http:'] : ['https:'];
  const url = /^[\x21-\x7e]+$/.test(issuer) && URL.canParse(issuer) ? new URL(issuer) : null;
  if (url === null || issuer.length > LONGEST || !protocols.includes(url.protocol)) {
    return 'An issuer is an https:// address.';
  }
  // OpenID Connect Core 1.0, 2.
  if (/[?#@]/.test(issuer)) return 'An issuer has no user, no query and no fragment.';
  if (bare(url) === bare(new URL(baseUrl))) return 'The issuer is this API. Its own access tokens open nothing.';
  return null;
}

/** The same text, however an address is written. */
const bare = ({ href }: URL): string => href.replace(/\/+$/, '');

/** Returns why a subject cannot be trusted, or null. */
export function subjectFault(subject: string): string | null {
  if (subject === '' || subject.length > LONGEST || /[\p{Cc}\p{Cs}]/u.test(subject)) {
    return `A subject has 1 to ${LONGEST} characters, and no control characters.`;
  }
  if (!subject.includes('*')) return null;
  const prefix = subject.slice(0, -1);
  if (!/^[^*]*[:/]\*$/.test(subject)) return 'A star stands only at the end of a subject, after ":" or "/".';
  // A separator counts when it follows a segment that is not empty.
  if ([...prefix.matchAll(/[^:/][:/]/g)].length < 2) {
    return 'A subject with a star names at least two segments before it, such as "repo:acme/*".';
  }
  const isCluster = prefix === 'system:serviceaccount:';
  return isCluster ? 'This subject is a whole cluster. Name a namespace: "system:serviceaccount:NAMESPACE:*".' : null;
}

/** Whether a trusted subject covers the subject of a token. */
export const coversSubject = (trusted: string, subject: string): boolean =>
  trusted.endsWith('*') ? subject.startsWith(trusted.slice(0, -1)) : subject === trusted;
