import { type KeyObject, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { PemKeyKind } from './pem-key-files';

const SHORTEST_RSA_BITS = 2048;
const generate = promisify(generateKeyPair);

/** RSA keys, which sign access tokens. */
export const TOKEN_KEYS: PemKeyKind = {
  use: 'signing',
  suffix: '.pem',
  algorithm: 'RS256',
  description: `unencrypted RSA private key of at least ${SHORTEST_RSA_BITS} bits`,
  generate: async (): Promise<KeyObject> => (await generate('rsa', { modulusLength: 3072 })).privateKey,
  accepts: ({ asymmetricKeyType, asymmetricKeyDetails }) =>
    asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= SHORTEST_RSA_BITS,
};

/** Ed25519 keys, which sign checkpoints of the audit (RFC 8037 in the key set). Earlier releases ignore their files. */
export const CHECKPOINT_KEYS: PemKeyKind = {
  use: 'checkpoint',
  suffix: '.checkpoint.pem',
  algorithm: 'EdDSA',
  description: 'unencrypted Ed25519 private key',
  generate: async (): Promise<KeyObject> => (await generate('ed25519', {})).privateKey,
  accepts: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519',
};
