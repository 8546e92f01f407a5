/** Creates and recognises client secrets. Only digests of secrets are stored. */
export abstract class ClientSecrets {
  /** Returns a new client id. */
  abstract newClientId(): string;

  /** Returns an id for one token (RFC 9068, `jti`). */
  abstract newTokenId(): string;

  /** Returns a secret of 256 random bits with its digest. */
  abstract newSecret(): { readonly secret: string; readonly digest: Buffer };

  /** Returns the digest of any text, well-formed secret or not. */
  abstract digest(secret: string): Buffer;

  /** Tells whether the digest is one of these, in constant time. */
  abstract isOneOf(digest: Buffer, digests: readonly Buffer[]): boolean;
}
