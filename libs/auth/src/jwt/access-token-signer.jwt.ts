import { type KeyObject, hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { Clock, applicationId, isUuid, workspaceId } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { PemKeys, TOKEN_KEYS } from '#libs/platform/keys';
import { type AccessTokenClaims, AccessTokenSigner } from '../domain/access-token-signer.port';
import { TokenExpired, TokenInvalid } from '../domain/authentication-errors';
import { unverifiedHeader } from '../domain/client-assertion';

/** The `typ` of an access token (RFC 9068, 2.1). It excludes other kinds of JWT. */
const TOKEN_TYPE = 'at+jwt';
const LEEWAY_SECONDS = 5;
/** Clocks of instances may differ by so much: each accepts a new token of another at once. */
const CLOCKS_APART_SECONDS = 300;
const REMEMBERED_TOKENS = 10_000;

/** The keys that sign access tokens. */
export class SigningKeys extends PemKeys {
  constructor(directory: string, clock: Clock) {
    super(TOKEN_KEYS, directory, clock);
  }

  /** Returns the key that signs new tokens. */
  current(): { readonly kid: string; readonly privateKey: KeyObject } {
    const key = this.inUse();
    if (!key) throw new Error('There is no signing key.');
    return { kid: key.kid, privateKey: key.material.privateKey };
  }
}

/** Claims with a verified signature, and the key that verified it. */
interface Verified {
  readonly claims: AccessTokenClaims;
  readonly publicKey: KeyObject;
}

/**
 * Signs and verifies JWTs with RS256. The verification key is chosen by `kid` from our own set, never from the token.
 */
@Injectable()
export class AccessTokenSignerJwt extends AccessTokenSigner {
  /** Tokens with a verified signature, by digest. Their generation is checked on each request. */
  private readonly verified = new Map<string, Verified>();

  constructor(
    private readonly jwt: JwtService,
    private readonly keys: SigningKeys,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    super();
  }

  async sign(
    claims: Omit<AccessTokenClaims, 'keyId' | 'issuedAt' | 'expiresAt'>,
  ): Promise<{ readonly token: string; readonly expiresInSeconds: number }> {
    // The token holds the generation as a number. A larger one comes from a wrong clock.
    if (claims.generation > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('The generation is too high.');
    const { kid, privateKey } = this.keys.current();
    const { baseUrl, tokenAudience, accessTokenTtlSeconds: expiresInSeconds } = this.settings;
    const issuedAt = this.nowInSeconds();
    const payload = {
      iss: baseUrl,
      aud: tokenAudience,
      sub: claims.clientId,
      client_id: claims.clientId,
      application: claims.applicationId,
      workspace: claims.workspaceId,
      scope: claims.scopes.join(' '),
      generation: Number(claims.generation),
      jti: claims.tokenId,
      iat: issuedAt,
      nbf: issuedAt - CLOCKS_APART_SECONDS,
      exp: issuedAt + expiresInSeconds,
    };
    const token = await this.jwt.signAsync(payload, {
      // The library's type omits this form. A parsed key signs in half the time of a PEM.
      privateKey: privateKey as unknown as Buffer,
      algorithm: 'RS256',
      header: { alg: 'RS256', typ: TOKEN_TYPE, kid },
    });
    return { token, expiresInSeconds };
  }

  async verify(token: string): Promise<AccessTokenClaims> {
    const digest = hash('sha256', token, 'base64');
    const known = this.verified.get(digest);
    if (known) {
      if (this.stillStands(known)) return known.claims;
      this.verified.delete(digest);
    }
    const checked = await this.check(token);
    if (this.verified.size >= REMEMBERED_TOKENS) {
      const [oldest] = this.verified.keys();
      if (oldest !== undefined) this.verified.delete(oldest);
    }
    this.verified.set(digest, checked);
    return checked.claims;
  }

  isKeyAccepted(keyId: string): boolean {
    return this.keys.publicKey(keyId) !== null;
  }

  /** Valid until the token expires or its key is removed. */
  private stillStands({ claims, publicKey }: Verified): boolean {
    return claims.expiresAt + LEEWAY_SECONDS > this.nowInSeconds() && this.keys.publicKey(claims.keyId) === publicKey;
  }

  private async check(token: string): Promise<Verified> {
    try {
      const { kid, typ, crit } = unverifiedHeader(token) ?? {};
      const publicKey = typeof kid === 'string' ? this.keys.publicKey(kid) : null;
      if (typ !== TOKEN_TYPE || typeof kid !== 'string' || !publicKey) throw new TokenInvalid();
      // No extension is supported (RFC 7515, 4.1.11).
      if (crit !== undefined || !isCanonical(token)) throw new TokenInvalid();
      const payload: unknown = await this.jwt.verifyAsync(token, {
        // The library's type omits this form. A parsed key is six times faster than a PEM.
        publicKey: publicKey as unknown as Buffer,
        algorithms: ['RS256'],
        issuer: this.settings.baseUrl,
        audience: this.settings.tokenAudience,
        clockTolerance: LEEWAY_SECONDS,
        clockTimestamp: this.nowInSeconds(),
      });
      return { claims: toClaims(payload as Record<string, unknown>, kid), publicKey };
    } catch (error) {
      throw (error as Error).name === 'TokenExpiredError' ? new TokenExpired() : new TokenInvalid();
    }
  }

  private nowInSeconds(): number {
    return Math.floor(this.clock.now() / 1000);
  }
}

/**
 * Decoders ignore surplus bits and characters, so one signature has many spellings. Only the signer's own is accepted.
 */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function toClaims(payload: Record<string, unknown>, keyId: string): AccessTokenClaims {
  const { client_id, application, workspace, scope, generation, jti, iat, exp } = payload;
  if (
    typeof client_id !== 'string' ||
    typeof application !== 'string' ||
    typeof workspace !== 'string' ||
    !isUuid(workspace) ||
    typeof scope !== 'string' ||
    typeof jti !== 'string' ||
    !Number.isSafeInteger(generation) ||
    !Number.isSafeInteger(iat) ||
    !Number.isSafeInteger(exp)
  ) {
    throw new TokenInvalid();
  }
  return {
    clientId: client_id,
    applicationId: applicationId(application),
    workspaceId: workspaceId(workspace),
    scopes: scope.split(' ').filter((name) => name !== ''),
    generation: BigInt(generation as number),
    tokenId: jti,
    keyId,
    issuedAt: iat as number,
    expiresAt: exp as number,
  };
}
