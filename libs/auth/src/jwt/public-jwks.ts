import { type AsymmetricKeyDetails, type JsonWebKey, type KeyObject, createPublicKey } from 'node:crypto';
import { ValidationFailed } from '#libs/kernel';
import { z } from 'zod';
import { type ClientKey, jsonOf } from '../domain/client-assertion';
import { KeySetUnavailable, MOST_ISSUER_KEYS } from '../domain/trusted-issuer';

/** A file that is no public key, or a key that this API does not accept. */
export class ClientKeyRefused extends ValidationFailed {
  constructor(detail: string) {
    super([{ parameter: 'jwk', code: 'format', detail }]);
  }
}

const JWK = z.looseObject({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  // Postgres refuses U+0000.
  kid: z
    .string()
    .regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u)
    .optional(),
  alg: z.string().optional(),
  use: z.string().optional(),
});
const FILE = z.union([z.object({ keys: z.array(JWK).min(1).max(10) }), JWK.transform((key) => ({ keys: [key] }))]);
const KEY_SET = z.object({ keys: z.array(z.unknown()) });

/** RFC 7518, 6.2.2, 6.3.2 and 6.4.1; RFC 8037, 2. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
/** RFC 9864: the same algorithm by its old and by its new name. */
const ED25519 = ['EdDSA', 'Ed25519'];
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  'EC P-256': ['ES256'],
  'EC P-384': ['ES384'],
  'OKP Ed25519': ED25519,
};

/** Reads a JWK or a JWK set of public keys. @throws {@link ClientKeyRefused} */
export async function readClientKeys(text: string): Promise<ClientKey[]> {
  const { data } = FILE.safeParse(jsonOf(text));
  if (!data) throw new ClientKeyRefused('The file is no public JWK (kty RSA, EC or OKP) and no set of 1 to 10.');
  return Promise.all(data.keys.map(readClientKey));
}

/**
 * Reads what an issuer publishes. Keys that clients could not have are left out.
 * @throws {@link KeySetUnavailable}
 */
export async function readIssuerKeys(text: string): Promise<ClientKey[]> {
  const { data } = KEY_SET.safeParse(jsonOf(text));
  if (!data) throw new KeySetUnavailable('noSet');
  if (data.keys.length > MOST_ISSUER_KEYS) throw new KeySetUnavailable('manyKeys');
  const read = await Promise.allSettled(data.keys.map(async (key) => readClientKey(JWK.parse(key))));
  const usable = read.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (usable.length === 0) throw new KeySetUnavailable('noKey');
  return usable;
}

/** The keys' thumbprints (RFC 7638), for the audit. */
export async function thumbprintsOf(keys: readonly ClientKey[]): Promise<string[]> {
  const { calculateJwkThumbprint } = await import('jose');
  return (await Promise.all(keys.map(({ jwk }) => calculateJwkThumbprint({ ...jwk })))).sort();
}

async function readClientKey(key: z.infer<typeof JWK>): Promise<ClientKey> {
  if (PRIVATE_MEMBERS.some((member) => member in key)) {
    throw new ClientKeyRefused('The file holds a private key. Make a new key pair, and give its public half alone.');
  }
  // RFC 7517, 4.2.
  if (key.use !== undefined && key.use !== 'sig') throw new ClientKeyRefused('The use of the key is not "sig".');
  const publicKey = publicKeyOf(key as JsonWebKey);
  // Its public members alone, without leading zeros, which may be as long as the file and would be read with each token.
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  const possible = algorithmsOf(jwk, publicKey.asymmetricKeyDetails ?? {});
  // RFC 7517, 4.4.
  if (key.alg !== undefined && !possible.includes(key.alg)) {
    throw new ClientKeyRefused(`The alg of the key is none of ${possible.join(', ')}.`);
  }
  const algorithms = key.alg === undefined || possible === ED25519 ? possible : [key.alg];
  const { calculateJwkThumbprint } = await import('jose');
  const kid = key.kid ?? (await calculateJwkThumbprint(jwk));
  return { kid, algorithms, jwk };
}

/** Returns the algorithms of a public key (RFC 7518, 3.1; RFC 8725, 3.5). */
function algorithmsOf({ kty, crv }: JsonWebKey, { modulusLength, publicExponent }: AsymmetricKeyDetails) {
  if (kty !== 'RSA') {
    const algorithms = ALGORITHMS[`${String(kty)} ${String(crv)}`];
    if (!algorithms) throw new ClientKeyRefused('The curve is none of P-256, P-384 and Ed25519.');
    return algorithms;
  }
  if (modulusLength === undefined || modulusLength < 2048 || modulusLength > 4096 || publicExponent !== 65_537n) {
    throw new ClientKeyRefused('An RSA key has 2048 to 4096 bits and the exponent 65537.');
  }
  return ['RS256', 'PS256'];
}

function publicKeyOf(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new ClientKeyRefused('The key is damaged.');
  }
}
