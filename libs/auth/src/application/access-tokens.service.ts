import { Injectable } from '@nestjs/common';
import { type Charge, Clock, KeyQueue, type Freshness, type RateClass, RateLimited } from '#libs/kernel';
import type { AccessTokenClaims } from '../domain/access-token';
import { AccessTokenSigner } from '../domain/access-token-signer.port';
import { ApplicationRepository, type TokenHolder } from '../domain/application-repository.port';
import { ClientNotAuthenticated, TokenInvalid, TokenSuperseded } from '../domain/authentication-errors';
import { ClientSecrets } from '../domain/client-secrets.port';
import type { Grant } from '../domain/grant';
import { GrantCopies } from '../domain/grant-copies.port';
import { coveredByBoth, covers, isScope } from '../domain/scope';
import { ScopeNotGranted, TokensContended } from '../domain/token-request-errors';
import { type RememberedClient, TokenRequestLimiter } from '../domain/token-request-limiter.port';

/** Within this time of a request its token is begun, or it fails. */
const BEGUN_WITHIN_MS = 5_000;
/** With less than this left none is begun: given up while Postgres commits it, it would end the one before for nothing. */
const LEAST_MS = 1_000;
/** So much, in microseconds, the clock may have been set back: what is further ahead of it was its fault. */
const MOST_AHEAD = 60_000_000n;
/** How often a token is begun anew because another one was quicker. */
const MOST_TRIES = 20;

export interface AccessToken {
  readonly token: string;
  readonly expiresInSeconds: number;
  readonly scopes: readonly string[];
}

/** Who presents a token, with the scopes that are in force now. */
export interface AuthenticatedApplication {
  readonly grant: Grant;
  readonly scopes: readonly string[];
  readonly charge: Charge | null;
  /** What it must see at least to see its own writes. */
  readonly freshness: Freshness;
}

/** How long a token lives; bound by the module from the settings. */
export class AccessTokenLifetime {
  constructor(readonly seconds: number) {}
}

/** What was asked for, and until when it is to be done, by `performance.now()`. */
interface TokenRequest {
  readonly clientId: string;
  readonly secretDigest: Buffer;
  readonly source: string;
  readonly scopes: readonly string[] | null;
  readonly deadline: number;
}

/** What became of a request before its client was charged for good. */
type Known =
  | { readonly issued: AccessToken; readonly remembered: RememberedClient }
  | { readonly issued?: undefined; readonly grant: Grant; readonly remembered: RememberedClient | null };

/** Tokens by the client credentials grant: one active per application, the newest (specification, Authentication 4). */
@Injectable()
export class AccessTokensService {
  private readonly queue = new KeyQueue();
  /** Digests of secrets by which a request guesses its client to be as it is remembered. */
  private readonly guesses = new Set<string>();
  private latestByClock = 0n;
  /** Keeps generations of replicas apart that begin in the same millisecond. */
  private readonly ofMillisecond = BigInt(Math.floor(Math.random() * 1_000));

  constructor(
    private readonly applications: ApplicationRepository,
    private readonly secrets: ClientSecrets,
    private readonly signer: AccessTokenSigner,
    private readonly grants: GrantCopies,
    private readonly limiter: TokenRequestLimiter,
    private readonly clock: Clock,
    private readonly lifetime: AccessTokenLifetime,
  ) {}

  /**
   * Issues a token and so ends the one before, on every replica before it is given. `scopes` null asks for everything
   * granted; `source` is where the request comes from. `charged` hears what the request was charged to the bucket of its
   * client and is not given back; of a bucket without a token `rate_limited` tells that. Throws `invalid_client`,
   * `rate_limited` or `invalid_scope`, and then the token before stays active.
   */
  async issue(
    clientId: string,
    secret: string,
    source: string,
    scopes: readonly string[] | null,
    charged: (charge: Charge) => void = () => undefined,
  ): Promise<AccessToken> {
    const secretDigest = this.secrets.digest(secret);
    const request = { clientId, secretDigest, source, scopes, deadline: performance.now() + BEGUN_WITHIN_MS };
    const known = await this.guessOrLookUp(request);
    if (known.issued) {
      charged(known.remembered.charge);
      return known.issued;
    }
    const { grant, remembered } = known;
    // A right secret is looked at first: whoever tries others uses up buckets of their own, never this one.
    const charge = await this.limiter.chargeClient(grant, secretDigest, remembered);
    if (!charge.allowed) throw new RateLimited(charge);
    const token = await this.issueTo({ grant, secretDigest, asRemembered: false }, request).catch((error: unknown) => {
      charged(charge);
      throw error;
    });
    // Who is refused for a change of a moment ago hears of no bucket, as anybody who is refused.
    if (!token) throw new ClientNotAuthenticated();
    charged(charge);
    return token;
  }

  /**
   * Who a bearer token speaks for, and what the request was charged to its bucket: null when that is still to be done.
   * Throws `token_invalid`, `token_expired` or `token_superseded`, and then nothing is charged.
   */
  async authenticate(token: string, rateClass: RateClass): Promise<AuthenticatedApplication> {
    const claims = await this.signer.verify(token);
    const copy = await this.grants.check(claims.clientId, claims.generation, rateClass);
    if (copy.kind === 'superseded') throw new TokenSuperseded();
    const { freshness } = copy;
    if (copy.kind === 'current') return accept(claims, copy.grant, copy.charge, freshness);
    const grant = await this.applications.findByClientId(claims.clientId);
    if (!grant) throw new TokenInvalid();
    const accepted = grant.generation === claims.generation && !grant.disabled;
    const charge =
      copy.kind === 'missing' ? await this.grants.keep(grant, copy.reservation, accepted ? rateClass : null) : null;
    return accept(claims, grant, charge, freshness);
  }

  /**
   * A token for the client as it is remembered, or else who it is in truth. What is charged on a guess is held back from
   * others until the truth is known, so that here only one request of a client guesses at a time; and it is given back
   * where the truth does not agree or cannot be had.
   */
  private async guessOrLookUp(request: TokenRequest): Promise<Known> {
    const { clientId, secretDigest, scopes } = request;
    // By its digest, so that nobody else's requests keep a client from it.
    const guess = secretDigest.toString('base64url');
    if (this.guesses.has(guess) || this.queue.has(clientId)) {
      return { grant: await this.authenticateClient(request), remembered: null };
    }
    this.guesses.add(guess);
    let remembered: RememberedClient | null = null;
    try {
      remembered = await this.limiter.chargeRemembered(clientId, secretDigest);
      if (remembered?.charge.allowed && refusedScope(remembered.grant, scopes) === undefined) {
        const issued = await this.issueTo({ grant: remembered.grant, secretDigest, asRemembered: true }, request);
        if (issued) return { issued, remembered };
        demandTime(request.deadline);
      }
      return { grant: await this.authenticateClient(request), remembered };
    } catch (error) {
      if (remembered) await this.limiter.giveBack(remembered);
      // Whose secret is no longer right is not remembered by it.
      const isWrong = error instanceof ClientNotAuthenticated || error instanceof RateLimited;
      if (remembered && isWrong) await this.limiter.forget(clientId);
      throw error;
    } finally {
      this.guesses.delete(guess);
    }
  }

  /** Null, and then the token before stays active, where the truth does not agree. Throws `invalid_scope`. */
  private async issueTo(holder: TokenHolder, { scopes: asked, deadline }: TokenRequest): Promise<AccessToken | null> {
    const refused = refusedScope(holder.grant, asked);
    if (refused !== undefined) throw new ScopeNotGranted(refused);
    const scopes = asked ?? holder.grant.scopes;
    const token = await this.beginTokenInTurn(holder, scopes, deadline);
    if (token === null) return null;
    await this.grants.forget(holder.grant.clientId);
    return { token, expiresInSeconds: this.lifetime.seconds, scopes };
  }

  /** Of many at once only one at a time asks Postgres: the others would hold connections, and be overtaken. */
  private async beginTokenInTurn(
    holder: TokenHolder,
    scopes: readonly string[],
    deadline: number,
  ): Promise<string | null> {
    const patienceMs = deadline - LEAST_MS - performance.now();
    const admission = await this.queue.enter(holder.grant.clientId, patienceMs);
    if (admission?.kind !== 'turn') throw new TokensContended();
    try {
      return await this.beginToken(holder, scopes, deadline);
    } finally {
      // Each wants a token of its own: nobody is answered by another one's.
      admission.end(false);
    }
  }

  /**
   * A signature takes longer than all the rest, so that it is made while Postgres commits the generation it is for. Should
   * a request to another replica have come first, its token is older than that one's and nobody's: one more is made.
   */
  private async beginToken(holder: TokenHolder, scopes: readonly string[], deadline: number): Promise<string | null> {
    // Not Postgres' own word, and old: a guess goes by the clock alone.
    let last = holder.asRemembered ? 0n : holder.grant.generation;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      demandTime(deadline);
      const generation = this.newGeneration(last);
      const tokenId = this.secrets.newTokenId();
      const issuedAt = Math.floor(this.clock.now() / 1000);
      const { clientId, id: applicationId, workspaceId } = holder.grant;
      const expiresAt = issuedAt + this.lifetime.seconds;
      const [outcome, token] = await Promise.all([
        this.applications.beginGeneration(holder, tokenId, generation, deadline),
        this.signer.sign({ clientId, applicationId, workspaceId, scopes, generation, tokenId, issuedAt, expiresAt }),
      ]);
      if (outcome.kind === 'begun') return token;
      if (outcome.kind === 'refused') return null;
      last = outcome.by;
    }
    throw new TokensContended();
  }

  /**
   * The clock in microseconds keeps generations rising even when the row comes back from an older backup. Ours has
   * milliseconds, and may be set back a little: by the clock, what is begun here later is higher all the same.
   */
  private newGeneration(last: bigint): bigint {
    const now = BigInt(this.clock.now() * 1_000) + this.ofMillisecond;
    const ahead = this.latestByClock - now;
    this.latestByClock = ahead < 0n || ahead > MOST_AHEAD ? now : this.latestByClock + 1n;
    const generation = this.latestByClock > last ? this.latestByClock : last + 1n;
    // Tokens carry it as a number; a row from a clock that far ahead is a matter for operators, and for that row alone.
    if (generation > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('The generation of an application is too high.');
    return generation;
  }

  private async authenticateClient({ clientId, secretDigest, source }: TokenRequest): Promise<Grant> {
    // An id that none could have is looked up like any other, so that it costs the same; Postgres takes no U+0000.
    const found = await this.applications.findWithSecrets(/^[\x20-\x7e]{1,200}$/.test(clientId) ? clientId : '-');
    const isRight = this.secrets.isOneOf(secretDigest, found?.secretDigests ?? []);
    if (found && isRight && !found.grant.disabled) return found.grant;
    const charge = await this.limiter.chargeFailure(clientId, source);
    throw charge.allowed ? new ClientNotAuthenticated() : new RateLimited(charge);
  }
}

/** Throws where too little of it is left. */
function demandTime(deadline: number): void {
  if (deadline - performance.now() < LEAST_MS) throw new TokensContended();
}

/** The first of the scopes that are asked for, null for all, that the application does not have. */
function refusedScope(grant: Grant, asked: readonly string[] | null): string | undefined {
  return (asked ?? grant.scopes).find((scope) => !isScope(scope) || !covers(grant.scopes, scope));
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
  return { grant, scopes: coveredByBoth(claims.scopes, grant.scopes), charge, freshness };
}
