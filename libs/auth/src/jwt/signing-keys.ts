import { type KeyObject, createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '#libs/kernel';
import { readSecretFile } from '#libs/platform/config';
import { type DatedKey, type KeyReading, KeysUnusable, type RereadableKeys, keyInUse } from '#libs/platform/keys';
import type { KeySet, PublicKey } from '../domain/access-token-signer.port';
import { type RsaKeyPair, parseRsaKeyPair } from './rsa-key-pair';
import { listSigningKeys } from './signing-key-files';

interface SigningKey extends DatedKey, RsaKeyPair {
  /** Digest of the file. Parsing takes milliseconds, so unchanged files are not parsed again. */
  readonly digest: string;
}

/**
 * The keys in SIGNING_KEYS_DIR as last read, one PEM file each. File names without `.pem` are the key ids. One key
 * signs; all verify. Never writes to the directory.
 */
export class SigningKeys implements RereadableKeys {
  private keys: ReadonlyMap<string, SigningKey> = new Map();
  private published: KeySet | null = null;

  private constructor(
    private readonly directory: string,
    private readonly clock: Clock,
  ) {}

  /** @throws {@link KeysUnusable} when there is no key, or a file is not a key */
  static async open(directory: string, clock: Clock): Promise<SigningKeys> {
    const keys = new SigningKeys(directory, clock);
    const { faults } = await keys.reread();
    if (faults.length > 0) throw new KeysUnusable(`${faults.join(' ')} It names ${directory}.`);
    return keys;
  }

  /** The content of `/jwks.json` (RFC 7517): all public keys, newest first, even those that do not sign yet. */
  get jwks(): KeySet {
    return (this.published ??= { keys: [...this.keys.values()].map(toPublicKey) });
  }

  /** Returns the key that signs new tokens. */
  current(): { readonly kid: string; readonly privateKey: KeyObject } {
    const key = keyInUse([...this.keys.values()], this.clock.now());
    if (!key) throw new Error('There is no signing key.');
    return key;
  }

  /**
   * Returns the public key with this id, always the same object while the key exists. Returns null for an unknown id.
   */
  publicKey(kid: string): KeyObject | null {
    return this.keys.get(kid)?.publicKey ?? null;
  }

  async reread(): Promise<KeyReading> {
    const faults: string[] = [];
    try {
      const keys = new Map<string, SigningKey>();
      for (const listed of await listSigningKeys(this.directory)) {
        const key = await this.take(listed, faults);
        if (key) keys.set(key.kid, key);
      }
      if (keys.size > 0) this.use(keys);
      else if (faults.length === 0) faults.push('SIGNING_KEYS_DIR holds no key (*.pem); admin keys init makes one.');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      faults.push(`SIGNING_KEYS_DIR cannot be read (${code ?? message}).`);
    }
    return { kids: [...this.keys.keys()], faults };
  }

  private use(keys: ReadonlyMap<string, SigningKey>): void {
    this.keys = keys;
    this.published = null;
  }

  /** A replaced file counts as a new key, because other instances may not have read it yet. */
  private sight(): { readonly seenAt?: number } {
    return this.keys.size === 0 ? {} : { seenAt: this.clock.now() };
  }

  /** Reads a key. Falls back to the previously known key when the file is unusable. */
  private async take({ kid, createdAt }: DatedKey, faults: string[]): Promise<SigningKey | null> {
    const known = this.keys.get(kid) ?? null;
    let pem: string;
    try {
      pem = (await readSecretFile(join(this.directory, `${kid}.pem`))).toString();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // The file was removed after the directory was listed.
      if (code === 'ENOENT') return null;
      faults.push(`SIGNING_KEYS_DIR: ${kid}.pem cannot be read (${code}).`);
      return known;
    }
    const digest = createHash('sha256').update(pem).digest('base64');
    if (known?.digest === digest) return known;
    const keyPair = parseRsaKeyPair(pem);
    if (keyPair) return { kid, createdAt, digest, ...this.sight(), ...keyPair };
    faults.push(`SIGNING_KEYS_DIR: ${kid}.pem is no unencrypted RSA private key of at least 2048 bits.`);
    return known;
  }
}

const toPublicKey = ({ kid, publicKey }: SigningKey): PublicKey => ({
  ...(publicKey.export({ format: 'jwk' }) as { kty: string }),
  kid,
  use: 'sig',
  alg: 'RS256',
});
