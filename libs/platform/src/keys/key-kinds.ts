import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyUse } from './key-rotation';

/** A kind of keys in SIGNING_KEYS_DIR. Earlier releases ignore files of kinds that they do not know. */
export interface KeyKind<Material> {
  readonly use: KeyUse;
  /** End of the file names. The rest is the key id, which has no dot, so no file has two kinds. */
  readonly suffix: '.pem' | '.checkpoint.pem' | '.cursor.key';
  /** For messages: "no …". */
  readonly description: string;
  /** Returns the content of a new file. May take seconds. */
  generate(): Promise<string>;
  /** Returns null unless the content of a file is a key of the kind. */
  parse(content: string): Material | null;
}

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export interface PemKeyKind extends KeyKind<KeyPair> {
  /** Algorithm in the key set (RFC 7517, 4.4). */
  readonly algorithm: string;
}

const SHORTEST_RSA_BITS = 2048;
const CURSOR_KEY_BYTES = 32;
const generate = promisify(generateKeyPair);

/** RSA keys, which sign access tokens. */
export const TOKEN_KEYS: PemKeyKind = {
  use: 'signing',
  suffix: '.pem',
  algorithm: 'RS256',
  description: `unencrypted RSA private key of at least ${SHORTEST_RSA_BITS} bits`,
  generate: async () => toPem((await generate('rsa', { modulusLength: 3072 })).privateKey),
  parse: (pem) =>
    parseKeyPair(
      pem,
      ({ asymmetricKeyType, asymmetricKeyDetails }) =>
        asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= SHORTEST_RSA_BITS,
    ),
};

/** Ed25519 keys, which sign checkpoints of the audit (RFC 8037 in the key set). */
export const CHECKPOINT_KEYS: PemKeyKind = {
  use: 'checkpoint',
  suffix: '.checkpoint.pem',
  algorithm: 'EdDSA',
  description: 'unencrypted Ed25519 private key',
  generate: async () => toPem((await generate('ed25519', {})).privateKey),
  parse: (pem) => parseKeyPair(pem, ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519'),
};

/** AES-256 keys, which seal page cursors. */
export const CURSOR_KEYS: KeyKind<Buffer> = {
  use: 'cursor',
  suffix: '.cursor.key',
  description: `cursor key: ${CURSOR_KEY_BYTES} bytes in base64`,
  generate: () => Promise.resolve(`${randomBytes(CURSOR_KEY_BYTES).toString('base64')}\n`),
  parse: (content) => {
    const key = Buffer.from(content, 'base64');
    return key.length === CURSOR_KEY_BYTES && key.toString('base64') === content.trim() ? key : null;
  },
};

export const KEY_KINDS: Readonly<Record<KeyUse, KeyKind<unknown>>> = {
  signing: TOKEN_KEYS,
  cursor: CURSOR_KEYS,
  checkpoint: CHECKPOINT_KEYS,
};

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

function parseKeyPair(pem: string, accepts: (privateKey: KeyObject) => boolean): KeyPair | null {
  try {
    const privateKey = createPrivateKey(pem);
    return accepts(privateKey) ? { privateKey, publicKey: createPublicKey(privateKey) } : null;
  } catch {
    // The parser's message would not help an operator.
    return null;
  }
}
