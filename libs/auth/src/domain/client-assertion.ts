import { parseForeignJson } from '#libs/kernel';

/** Proofs of a client in a token request. */
export type Proof = { readonly secret: string } | { readonly assertion: string };

/** The address under which RFC 7523 (section 2.2) names its assertions. */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Algorithms of client keys (RFC 7518, section 3.1; RFC 9864). */
export const CLIENT_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

/** A public key of an application, as a JWK of its public members alone. */
export interface ClientKey {
  readonly kid: string;
  /** One or two of {@link CLIENT_ALGORITHMS}. */
  readonly algorithms: readonly string[];
  readonly jwk: Readonly<Record<string, string>>;
}

export interface StoredClientKey extends ClientKey {
  readonly id: string;
}

/** Header or claims of a JWT. */
export type Members = Readonly<Record<string, unknown>>;

/** Returns the claims of a JWT before any check. Null where they cannot be read. */
export const unverifiedClaims = (assertion: string): Members | null => membersOf(assertion.split('.')[1]);

/**
 * Returns the header of a JWT before any check. Null where header or claims cannot be read: libraries parse both without a
 * limit of levels, before they look at the signature.
 */
export const unverifiedHeader = (assertion: string): Members | null =>
  unverifiedClaims(assertion) && membersOf(assertion.split('.')[0]);

/** Returns the client that an unverified assertion names: its issuer and its subject (RFC 7523, 3). */
export function clientNamedBy(assertion: string): string | null {
  const { iss, sub } = unverifiedClaims(assertion) ?? {};
  return typeof sub === 'string' && sub !== '' && iss === sub ? sub : null;
}

function membersOf(part = ''): Members | null {
  const members = jsonOf(Buffer.from(part, 'base64url').toString('utf8'));
  return typeof members === 'object' && !Array.isArray(members) ? (members as Members | null) : null;
}

/** Reads JSON of somebody else. Null for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return null;
  }
}
