import { type KeyObject, createPrivateKey, createPublicKey } from 'node:crypto';

const SHORTEST_BITS = 2048;

export interface RsaKeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Parses a PEM file. Returns null unless it holds an unencrypted RSA private key of at least 2048 bits. */
export function parseRsaKeyPair(pem: string): RsaKeyPair | null {
  try {
    const privateKey = createPrivateKey(pem);
    const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
    if (privateKey.asymmetricKeyType !== 'rsa' || bits < SHORTEST_BITS) return null;
    return { privateKey, publicKey: createPublicKey(privateKey) };
  } catch {
    // The parser's message would not help an operator.
    return null;
  }
}
