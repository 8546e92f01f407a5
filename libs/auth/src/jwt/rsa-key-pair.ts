import { type KeyObject, createPrivateKey, createPublicKey } from 'node:crypto';

const SHORTEST_BITS = 2048;

export interface RsaKeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** What a PEM file holds, null unless it is an unencrypted RSA private key of at least 2048 bits. */
export function parseRsaKeyPair(pem: string): RsaKeyPair | null {
  try {
    const privateKey = createPrivateKey(pem);
    const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
    if (privateKey.asymmetricKeyType !== 'rsa' || bits < SHORTEST_BITS) return null;
    return { privateKey, publicKey: createPublicKey(privateKey) };
  } catch {
    // What the parser says is of no use to an operator.
    return null;
  }
}
