import { Injectable } from '@nestjs/common';
import { type Charge, Clock, type Freshness, type RateClass, RateLimited } from '#libs/kernel';
import type { AccessTokenClaims } from '../domain/access-token';
import { AccessTokenSigner } from '../domain/access-token-signer.port';
import { ApplicationRepository } from '../domain/application-repository.port';
import { ClientNotAuthenticated, TokenInvalid, TokenSuperseded } from '../domain/authentication-errors';
import { ClientSecrets } from '../domain/client-secrets.port';
import type { Grant } from '../domain/grant';
import { GrantCache } from '../domain/grant-cache.port';
import { coveredByBoth, covers, isScope } from '../domain/scope';
import { ScopeNotGranted } from '../domain/token-request-errors';
import { TokenRequestLimiter } from '../domain/token-request-limiter.port';

export interface AccessToken {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

/** Who presents a token, with the scopes that are in force now. */
export interface AuthenticatedApplication {
  readonly grant: Grant;
  readonly claims: AccessTokenClaims;
  readonly scopes: readonly string[];
  readonly charge: Charge | null;
  /** What it must see at least to see its own writes. */
  readonly freshness: Freshness;
}

/** How long a token lives; bound by the module from the settings. */
export class AccessTokenLifetime {
  constructor(readonly seconds: number) {}
}

/** Tokens by the client credentials grant: one active per application, the newest (specification, Authentication 4). */
@Injectable()
export class AccessTokensService {
  constructor(
    private readonly applications: ApplicationRepository,
    private readonly secrets: ClientSecrets,
    private readonly signer: AccessTokenSigner,
    private readonly grants: GrantCache,
    private readonly limiter: TokenRequestLimiter,
    private readonly clock: Clock,
    private readonly lifetime: AccessTokenLifetime,
  ) {}

  /**
   * Issues a token and ends the one before, on every instance before it returns. `scopes` null asks for everything granted;
   * `source` is the address that the request comes from. `charged` hears what the request took of its client's bucket.
   * @throws `invalid_client`, `rate_limited` or `invalid_scope`; then the token before stays active.
   */
  async issue(
    clientId: string,
    secret: string,
    source: string,
    scopes: readonly string[] | null,
    charged: (charge: Charge) => void = () => undefined,
  ): Promise<AccessToken> {
    const secretDigest = this.secrets.digest(secret);
    const grant = await this.authenticateClient(clientId, secretDigest, source);
    const charge = await this.limiter.chargeClient(grant);
    if (!charge.allowed) throw new RateLimited(charge);
    charged(charge);
    const granted = grantedScopes(grant, scopes);
    const tokenId = this.secrets.newTokenId();
    const generation = await this.applications.beginGeneration(grant, secretDigest, tokenId);
    // Since the look-up the secret was rotated or the application disabled.
    if (generation === null) throw new ClientNotAuthenticated();
    const issuedAt = Math.floor(this.clock.now() / 1000);
    const token = await this.signer.sign({
      clientId,
      applicationId: grant.id,
      workspaceId: grant.workspaceId,
      scopes: granted,
      generation,
      tokenId,
      issuedAt,
      expiresAt: issuedAt + this.lifetime.seconds,
    });
    await this.grants.invalidate(clientId);
    return { token, expiresInSeconds: this.lifetime.seconds, scopes: granted };
  }

  /**
   * Finds the application that a bearer token speaks for, and charges the request to its bucket if its grant is cached:
   * check and charge are one round trip. `charge` is null where the request must still be charged.
   * @throws `token_invalid`, `token_expired` or `token_superseded`; then nothing was charged.
   */
  async authenticateAndCharge(token: string, rateClass: RateClass): Promise<AuthenticatedApplication> {
    const claims = await this.signer.verify(token);
    const cached = await this.grants.checkAndCharge(claims.clientId, claims.generation, rateClass);
    if (cached.kind === 'superseded') throw new TokenSuperseded();
    if (cached.kind === 'current') return accept(claims, cached.grant, cached.charge, cached.freshness);
    const grant = await this.applications.findByClientId(claims.clientId);
    if (!grant) throw new TokenInvalid();
    // Nobody waits for it: it only helps the next request.
    if (cached.kind === 'missing') void this.grants.store(grant, cached.reservation);
    return accept(claims, grant, null, cached.freshness);
  }

  /** Charges a wrong secret to buckets of its own, so that nobody who guesses can use up the bucket of the client. */
  private async authenticateClient(clientId: string, secretDigest: Buffer, source: string): Promise<Grant> {
    // An id that no client can have is looked up like any other and costs the same. Postgres refuses U+0000.
    const found = await this.applications.findWithSecrets(/^[\x20-\x7e]{1,200}$/.test(clientId) ? clientId : '-');
    const isRight = this.secrets.isOneOf(secretDigest, found?.secretDigests ?? []);
    if (found && isRight && !found.grant.disabled) return found.grant;
    const charge = await this.limiter.chargeFailure(clientId, source);
    throw charge.allowed ? new ClientNotAuthenticated() : new RateLimited(charge);
  }
}

/** The scopes of a token; `asked` null asks for everything granted. @throws `invalid_scope` */
function grantedScopes(grant: Grant, asked: readonly string[] | null): readonly string[] {
  if (asked === null) return grant.scopes;
  const refused = asked.find((scope) => !isScope(scope) || !covers(grant.scopes, scope));
  if (refused !== undefined) throw new ScopeNotGranted(refused);
  return asked;
}

/** Throws `token_invalid` or `token_superseded`. Scopes that were taken from the application are not in force. */
function accept(
  claims: AccessTokenClaims,
  grant: Grant,
  charge: Charge | null,
  freshness: Freshness,
): AuthenticatedApplication {
  if (grant.disabled || grant.workspaceId !== claims.workspaceId) throw new TokenInvalid();
  if (claims.generation !== grant.generation) throw new TokenSuperseded();
  return { grant, claims, scopes: coveredByBoth(claims.scopes, grant.scopes), charge, freshness };
}
