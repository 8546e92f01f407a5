import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPair, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const KEY_FILE = /^([A-Za-z0-9_-]{1,64})\.pem$/;

/** A new key as the file to keep it in. The name sorts by time of making: the newest key signs. */
export async function newSigningKeyFile(now: number): Promise<{ readonly name: string; readonly content: string }> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 3072 });
  const made = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  return {
    name: `${made}-${randomBytes(4).toString('hex')}.pem`,
    content: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** The keys in SIGNING_KEYS_DIR, one PEM file each, parsed once. Their names without `.pem` are the key ids. */
export class SigningKeys {
  private readonly keys: ReadonlyMap<string, SigningKey>;
  /** What `/jwks.json` says (RFC 7517): the public halves, newest first. */
  readonly jwks: { readonly keys: readonly object[] };

  constructor(directory: string) {
    const names = readdirSync(directory).filter((name) => KEY_FILE.test(name));
    if (names.length === 0) throw new Error('SIGNING_KEYS_DIR holds no key (*.pem); admin keys init makes one.');
    const keys = names
      .sort()
      .reverse()
      .map((name) => readKey(name.slice(0, -'.pem'.length), readFileSync(join(directory, name), 'utf8')));
    this.keys = new Map(keys.map((key) => [key.kid, key]));
    this.jwks = {
      keys: keys.map(({ kid, publicKey }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid,
        use: 'sig',
        alg: 'RS256',
      })),
    };
  }

  /** The key that new tokens are signed with. */
  current(): { readonly kid: string; readonly privateKey: KeyObject } {
    const [newest] = this.keys.values();
    if (!newest) throw new Error('There is no signing key.');
    return newest;
  }

  /** The public half of one of our own keys; null for any other key id. */
  publicKey(kid: string): KeyObject | null {
    return this.keys.get(kid)?.publicKey ?? null;
  }
}

function readKey(kid: string, pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (privateKey.asymmetricKeyType !== 'rsa' || bits < 2048) {
    throw new Error(`The signing key ${kid} is not an RSA key of at least 2048 bits.`);
  }
  return { kid, privateKey, publicKey: createPublicKey(privateKey) };
}
