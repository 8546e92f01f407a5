/** Makes client secrets and recognises them. Secrets are kept as digests only. */
export abstract class ClientSecrets {
  /** A client id never given out before. */
  abstract newClientId(): string;

  /** An id for one token (RFC 9068, `jti`). */
  abstract newTokenId(): string;

  /** A secret of 256 random bits with its digest. */
  abstract newSecret(): { readonly secret: string; readonly digest: Buffer };

  /** The digest of a secret, be it well-formed or not. */
  abstract digest(secret: string): Buffer;

  /** Whether it is one of these digests. Takes as long for none of them as for any other. */
  abstract isOneOf(digest: Buffer, digests: readonly Buffer[]): boolean;
}
