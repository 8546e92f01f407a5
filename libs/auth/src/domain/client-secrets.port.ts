/** Makes client secrets and recognises them. Secrets are kept as digests only. */
export abstract class ClientSecrets {
  /** A client id never given out before. */
  abstract newClientId(): string;

  /** An id for one token (RFC 9068, `jti`). */
  abstract newTokenId(): string;

  /** A secret of 256 random bits with its digest. */
  abstract newSecret(): { readonly secret: string; readonly digest: Buffer };

  /**
   * The one of the digests that the secret has; null when it has none. Takes as long for no digest, or a secret that is
   * not even well-formed, as for any other.
   */
  abstract match(secret: string, digests: readonly Buffer[]): Buffer | null;
}
