import type { KeyObject } from 'node:crypto';
import type { Clock } from '#libs/kernel';
import type { KeyPair, PemKeyKind } from './key-kinds';
import type { KeyReading } from './key-rereading';
import { LoadedKeys } from './loaded-keys';

/** A JSON Web Key Set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly PublicKey[];
}

export interface PublicKey {
  readonly kty: string;
  readonly kid: string;
  readonly use: string;
  readonly alg: string;
  /** Only of Ed25519 keys. */
  readonly x?: string;
}

/** Pairs of keys, which sign and verify. */
export class PemKeys extends LoadedKeys<KeyPair> {
  private published: KeySet | null = null;

  constructor(
    private readonly pem: PemKeyKind,
    directory: string,
    clock: Clock,
  ) {
    super(pem, directory, clock);
  }

  /** All public keys, newest first, even those that do not sign yet (RFC 7517). */
  get jwks(): KeySet {
    return (this.published ??= {
      keys: [...this.keys.values()].map(({ kid, material }) => {
        const jwk = material.publicKey.export({ format: 'jwk' }) as { kty: string; x?: string };
        return { ...jwk, kid, use: 'sig', alg: this.pem.algorithm };
      }),
    });
  }

  /**
   * Returns the public key with this id, always the same object while the key exists. Returns null for an unknown id.
   */
  publicKey(kid: string): KeyObject | null {
    return this.keys.get(kid)?.material.publicKey ?? null;
  }

  override async reread(): Promise<KeyReading> {
    const reading = await super.reread();
    this.published = null;
    return reading;
  }
}

/** The content of `/jwks.json`: public keys of every kind, newest first within each. */
export class PublicKeys {
  constructor(private readonly sources: readonly { readonly jwks: KeySet }[]) {}

  get jwks(): KeySet {
    return { keys: this.sources.flatMap(({ jwks }) => jwks.keys) };
  }
}
