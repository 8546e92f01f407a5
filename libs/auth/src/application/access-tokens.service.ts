import { Injectable } from '@nestjs/common';
import { type Charge, type Freshness, type RateClass, RateLimited, coveredByBoth, covers, isScope } from '#libs/kernel';
import { type AccessTokenClaims, AccessTokenSigner } from '../domain/access-token-signer.port';
import { ClientNotAuthenticated, TokenInvalid, TokenSuperseded } from '../domain/authentication-errors';
import { type Proof, clientNamedBy, unverifiedClaims, unverifiedHeader } from '../domain/client-assertion';
import { ClientAssertions, type Refusal } from '../domain/client-assertions.port';
import { ClientSecrets } from '../domain/client-secrets.port';
import type { Grant } from '../domain/application';
import { GrantCache } from '../domain/grant-cache.port';
import { GrantRepository, type Proven } from '../domain/grant-repository.port';
import { ParameterMissing, ScopeNotGranted } from '../domain/token-request-errors';
import { TokenRequestLimiter } from '../domain/token-request-limiter.port';

export interface AccessToken {
  readonly clientId: string;
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

/** A client that proved itself. */
interface AuthenticatedClient {
  readonly grant: Grant;
  readonly proven: Proven;
}

/** The application behind a token, with the scopes that apply now. */
export interface AuthenticatedApplication {
  readonly grant: Grant;
  readonly claims: AccessTokenClaims;
  readonly scopes: readonly string[];
  readonly charge: Charge | null;
  /** Reads of this freshness show the caller its own writes. */
  readonly freshness: Freshness;
}

/**
 * Issues tokens by the client credentials grant. Each application has one active token, the newest (specification,
 * Authentication 4).
 */
@Injectable()
export class AccessTokensService {
  constructor(
    private readonly stored: GrantRepository,
    private readonly secrets: ClientSecrets,
    private readonly assertions: ClientAssertions,
    private readonly signer: AccessTokenSigner,
    private readonly cached: GrantCache,
    private readonly limiter: TokenRequestLimiter,
  ) {}

  /**
   * Issues a token. Ends the previous one on every instance before it returns. `scopes` null asks for everything
   * granted; `source` is the client's address. `charged` receives the charge of the client's bucket. A client id may be
   * left out beside an assertion, which names it (RFC 7521, 4.2).
   * @throws `invalid_client`, `rate_limited` or `invalid_scope`; the previous token then stays active.
   */
  async issue(
    namedClientId: string | null,
    proof: Proof,
    source: string,
    scopes: readonly string[] | null,
    charged: (charge: Charge) => void = () => undefined,
  ): Promise<AccessToken> {
    const clientId = namedClientId ?? ('assertion' in proof ? clientNamedBy(proof.assertion) : null);
    if (clientId === null) throw new ParameterMissing('client_id');
    const client =
      'secret' in proof
        ? await this.authenticateBySecret(clientId, proof.secret)
        : await this.authenticateByAssertion(clientId, proof.assertion);
    if ('fault' in client) return this.refuse(clientId, source, client.fault);
    const { grant, proven } = client;
    const charge = await this.limiter.chargeClient(grant);
    if (!charge.allowed) throw new RateLimited(charge);
    charged(charge);
    const granted = grantedScopes(grant, scopes);
    const tokenId = this.secrets.newTokenId();
    const generation = await this.stored.beginGeneration(grant, proven, tokenId);
    // The secret or key was replaced, the assertion used, or the application disabled since the lookup.
    if (generation === null) throw new ClientNotAuthenticated('ended or used since the lookup');
    const { token, expiresInSeconds } = await this.signer.sign({
      clientId,
      applicationId: grant.id,
      workspaceId: grant.workspaceId,
      scopes: granted,
      generation,
      tokenId,
    });
    await this.cached.invalidate(clientId);
    return { clientId, token, expiresInSeconds, scopes: granted };
  }

  /**
   * Finds the application of a bearer token. Charges the request in the same round trip when the grant is cached.
   * `charge` is null when the request must still be charged.
   * @throws `token_invalid`, `token_expired` or `token_superseded`; nothing was charged then.
   */
  async authenticateAndCharge(token: string, rateClass: RateClass): Promise<AuthenticatedApplication> {
    const claims = await this.signer.verify(token);
    const cached = await this.cached.checkAndCharge(claims.clientId, claims.generation, rateClass);
    if (cached.kind === 'superseded') throw new TokenSuperseded();
    if (cached.kind === 'current') return accept(claims, cached.grant, cached.charge, cached.freshness);
    const grant = await this.stored.find(claims.clientId);
    if (!grant) throw new TokenInvalid();
    // Not awaited: it only helps the next request.
    if (cached.kind === 'missing') void this.cached.store(grant, cached.reservation);
    return accept(claims, grant, null, cached.freshness);
  }

  /**
   * The scopes that an accepted token still opens, or null when it opens nothing any more. A token that expired or was
   * replaced by a newer one opens them still; one that an operator ended does not.
   */
  async scopesLeft(claims: AccessTokenClaims): Promise<string[] | null> {
    if (!this.signer.isKeyAccepted(claims.keyId)) return null;
    const grant = await this.stored.findUnlessEnded(claims.clientId, claims.generation);
    return grant && coveredByBoth(claims.scopes, grant.scopes);
  }

  /** From now on the client's reads see everything that is committed by now, for a while, as after a write. */
  async readNewest(clientId: string): Promise<void> {
    await this.cached.readNewest(clientId);
  }

  private async authenticateBySecret(clientId: string, secret: string): Promise<AuthenticatedClient | Refusal> {
    const secretDigest = this.secrets.digest(secret);
    const found = await this.stored.findWithSecrets(findable(clientId));
    const isRight = this.secrets.isOneOf(secretDigest, found?.secretDigests ?? []);
    if (!found || !isRight || found.grant.disabled) return { fault: null };
    return { grant: found.grant, proven: { secretDigest } };
  }

  /** A used assertion is refused like a wrong one, so whoever captured it cannot exhaust the client's own bucket. */
  private async authenticateByAssertion(clientId: string, assertion: string): Promise<AuthenticatedClient | Refusal> {
    const claims = unverifiedClaims(assertion);
    if (claims?.['iss'] !== clientId) return this.authenticateByWorkload(clientId, assertion, claims?.['iss']);
    const { jti } = claims;
    // The check refuses a `jti` that is no text.
    const jtiDigest = this.secrets.digest(typeof jti === 'string' ? jti : '');
    const found = await this.stored.findWithKeys(findable(clientId), jtiDigest);
    const checked = await this.assertions.check(assertion, clientId, found ?? { keys: [], oldAudience: false });
    if ('fault' in checked) return checked;
    if (!found || found.grant.disabled) return { fault: 'application disabled' };
    // RFC 7523, 3 (7).
    if (found.isUsed) return { fault: 'used before' };
    // The clock of this instance may be behind.
    if (checked.expiresAt <= found.now) return { fault: 'expired by the clock of Postgres' };
    return { grant: found.grant, proven: { keyId: checked.key.id, jtiDigest, expiresAt: checked.expiresAt } };
  }

  /** Somebody else's token has no use to count: CI systems give the same one to a step that is repeated. */
  private async authenticateByWorkload(
    clientId: string,
    token: string,
    iss: unknown,
  ): Promise<AuthenticatedClient | Refusal> {
    const issuer = findable(iss);
    const { kid, alg } = unverifiedHeader(token) ?? {};
    const named = kid === undefined ? null : findable(kid);
    const found = await this.stored.findWithTrusts(findable(clientId), issuer, named, findable(alg));
    const checked = await this.assertions.checkWorkload(token, issuer, found?.trusts ?? []);
    if ('fault' in checked) return checked;
    if (!found || found.grant.disabled) return { fault: 'application disabled' };
    return { grant: found.grant, proven: checked };
  }

  /** Charges a wrong proof to separate buckets, so that guessing cannot exhaust the client's own bucket. */
  private async refuse(clientId: string, source: string, reason: string | null): Promise<never> {
    const charge = await this.limiter.chargeFailure(clientId, source);
    throw charge.allowed ? new ClientNotAuthenticated(reason) : new RateLimited(charge);
  }
}

/** An impossible name is looked up like any other, so it costs the same. Postgres refuses U+0000. */
const findable = (name: unknown): string =>
  typeof name === 'string' && /^[^\p{Cc}\p{Cs}]{1,1000}$/u.test(name) ? name : '-';

/** Returns the scopes of a token. `asked` null asks for everything granted. @throws `invalid_scope` */
function grantedScopes(grant: Grant, asked: readonly string[] | null): readonly string[] {
  if (asked === null) return grant.scopes;
  const refused = asked.find((scope) => !isScope(scope) || !covers(grant.scopes, scope));
  if (refused !== undefined) throw new ScopeNotGranted(refused);
  return asked;
}

/**
 * Accepts a token. Scopes that the application has lost no longer apply.
 * @throws `token_invalid` or `token_superseded`
 */
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
