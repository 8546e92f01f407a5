/** A JSON Web Key Set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly PublicKey[];
}

export interface PublicKey {
  readonly kty: string;
  readonly kid: string;
  readonly use: string;
  readonly alg: string;
}

/** The content of `/jwks.json`: public keys of every kind, newest first within each. */
export class PublicKeys {
  constructor(private readonly sources: readonly { readonly jwks: KeySet }[]) {}

  get jwks(): KeySet {
    return { keys: this.sources.flatMap(({ jwks }) => jwks.keys) };
  }
}
