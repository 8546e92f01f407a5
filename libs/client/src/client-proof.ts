import { type KeyObject, createPrivateKey, randomUUID, type webcrypto } from 'node:crypto';

/** A private key, whose public half the API's operator has added to the application. */
export interface PrivateKey {
  /** A CryptoKey, a KeyObject or a PEM text. */
  readonly key: webcrypto.CryptoKey | KeyObject | string;
  readonly algorithm: 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA' | 'Ed25519';
  /** The id under which the operator added the key. */
  readonly kid?: string;
  /** The `issuer` of the API's discovery document. By default the `baseUrl`. */
  readonly audience?: string;
}

/** Proofs of the application. Give exactly one of them. */
export interface ProofOptions {
  readonly clientSecret?: string | undefined;
  readonly privateKey?: PrivateKey | undefined;
  /** Returns a token of the platform on which the program runs, such as GitHub Actions or Kubernetes. */
  readonly assertion?: (() => Promise<string>) | undefined;
}

/** The members of a token request that prove the application. */
export type Proof = () => Promise<Readonly<Record<string, string>>>;

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Time for a clock that is slow. */
const LIFETIME_SECONDS = 300;

/** @throws `TypeError` unless exactly one of the options is given */
export function proofOf(
  clientId: string,
  baseUrl: string,
  { clientSecret, privateKey, assertion }: ProofOptions,
): Proof {
  if ([clientSecret, privateKey, assertion].filter((one) => one !== undefined).length !== 1) {
    throw new TypeError('Give exactly one of clientSecret, privateKey and assertion.');
  }
  if (clientSecret !== undefined) return () => Promise.resolve({ client_secret: clientSecret });
  const made = assertion ?? signing(clientId, baseUrl, privateKey as PrivateKey);
  return async () => ({ client_assertion_type: ASSERTION_TYPE, client_assertion: (await made()).trim() });
}

/**
 * Each assertion obtains one token, so it is signed for each request anew. It has no `iat`: a fast clock puts it in the
 * future.
 */
function signing(clientId: string, baseUrl: string, { key, algorithm, kid, audience }: PrivateKey) {
  const own = typeof key === 'string' ? createPrivateKey(key) : key;
  return async (): Promise<string> => {
    const { SignJWT } = await import('jose');
    return new SignJWT({ iss: clientId, sub: clientId, aud: audience ?? baseUrl, jti: randomUUID() })
      .setExpirationTime(Math.floor(Date.now() / 1_000) + LIFETIME_SECONDS)
      .setProtectedHeader({ alg: algorithm, typ: 'client-authentication+jwt', ...(kid === undefined ? {} : { kid }) })
      .sign(own);
  };
}
