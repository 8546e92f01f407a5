import { type KeyObject, createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '#libs/kernel';
import type { KeyReading, RereadableKeys } from './key-rereading';
import { type DatedKey, keyInUse } from './key-rotation';
import { type KeyPair, type PemKeyKind, listPemKeys, parseKeyPair, pemKeyFile } from './pem-key-files';
import type { KeySet, PublicKey } from './public-keys';
import { readSecretFile } from '../config/secret-file';

export interface PemKey extends DatedKey, KeyPair {
  /** Digest of the file. Parsing takes milliseconds, so unchanged files are not parsed again. */
  readonly digest: string;
}

/**
 * The keys of one kind in SIGNING_KEYS_DIR as last read, one PEM file each. One key signs; all verify. Never writes to
 * the directory.
 */
export class PemKeys implements RereadableKeys {
  private keys: ReadonlyMap<string, PemKey> = new Map();
  private published: KeySet | null = null;

  constructor(
    private readonly kind: PemKeyKind,
    private readonly directory: string,
    private readonly clock: Clock,
  ) {}

  /** All public keys, newest first, even those that do not sign yet (RFC 7517). */
  get jwks(): KeySet {
    return (this.published ??= { keys: [...this.keys.values()].map((key) => this.toPublicKey(key)) });
  }

  /** Returns the key that signs now, or null without any key. */
  inUse(): PemKey | null {
    return keyInUse([...this.keys.values()], this.clock.now()) ?? null;
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
      const keys = new Map<string, PemKey>();
      for (const listed of await listPemKeys(this.kind, this.directory)) {
        const key = await this.take(listed, faults);
        if (key) keys.set(key.kid, key);
      }
      if (keys.size > 0) this.use(keys);
      else if (faults.length === 0) faults.push(this.noKeys());
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      faults.push(`SIGNING_KEYS_DIR cannot be read (${code ?? message}).`);
    }
    return { kids: [...this.keys.keys()], faults };
  }

  private use(keys: ReadonlyMap<string, PemKey>): void {
    this.keys = keys;
    this.published = null;
  }

  /** A replaced file counts as a new key, because other instances may not have read it yet. */
  private sight(): { readonly seenAt?: number } {
    return this.keys.size === 0 ? {} : { seenAt: this.clock.now() };
  }

  /** Reads a key. Falls back to the previously known key when the file is unusable. */
  private async take({ kid, createdAt }: DatedKey, faults: string[]): Promise<PemKey | null> {
    const file = pemKeyFile(this.kind, kid);
    const known = this.keys.get(kid) ?? null;
    let pem: string;
    try {
      pem = (await readSecretFile(join(this.directory, file))).toString();
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // The file was removed after the directory was listed.
      if (code === 'ENOENT') return null;
      faults.push(`SIGNING_KEYS_DIR: ${file} cannot be read (${code}).`);
      return known;
    }
    const digest = createHash('sha256').update(pem).digest('base64');
    if (known?.digest === digest) return known;
    const keyPair = parseKeyPair(this.kind, pem);
    if (keyPair) return { kid, createdAt, digest, ...this.sight(), ...keyPair };
    faults.push(`SIGNING_KEYS_DIR: ${file} is no ${this.kind.description}.`);
    return known;
  }

  private noKeys(): string {
    return `SIGNING_KEYS_DIR holds no key (*${this.kind.suffix}); admin keys init makes one.`;
  }

  private toPublicKey({ kid, publicKey }: PemKey): PublicKey {
    const jwk = publicKey.export({ format: 'jwk' }) as { kty: string };
    return { ...jwk, kid, use: 'sig', alg: this.kind.algorithm };
  }
}
