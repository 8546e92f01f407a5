import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import { type Charge, DomainError, type RateClass, RateLimited } from '#libs/kernel';
import { type BucketSize, bucketSizeOf, rateClassOf, setRateLimitHeaders } from '#libs/platform/throttling';
import { Settings } from '#libs/platform/config';
import { accessOf } from '#libs/platform/http';
import type { Request, Response } from 'express';
import { AccessTokensService, type AuthenticatedApplication } from '../application/access-tokens.service';
import { TokenInvalid, TokenMissing } from '../domain/authentication-errors';
import { challengeOf } from './bearer-challenge';
import { missingScope } from './scope.guard';

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Identifies the caller (RFC 6750), charges the request to the client's bucket and refuses it when the bucket is empty.
 * Runs before anything that could inform a stranger. Both steps share one round trip to Redis. The stock guard counts
 * in windows by route and address, and its 429 carries no limits.
 */
@Injectable()
export class AuthenticateAndChargeGuard extends ThrottlerGuard {
  @Inject(AccessTokensService)
  private readonly tokens!: AccessTokensService;
  @Inject(Settings)
  private readonly settings!: Settings;

  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(accessOf(this.reflector, context).kind === 'public');
  }

  protected override async handleRequest({ context, limit, ttl }: ThrottlerRequest): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const rateClass = rateClassOf(request.method);
    const { grant, claims, scopes, freshness, charge: charged } = await this.authenticateAndCharge(request, response);
    request.context.caller = {
      workspaceId: grant.workspaceId,
      applicationId: grant.id,
      clientId: grant.clientId,
      scopes,
      token: claims,
      freshness,
      readNewest: () => this.tokens.readNewest(grant.clientId),
      mayGoOn: async () => {
        const left = await this.tokens.scopesLeft(claims);
        return left !== null && missingScope(accessOf(this.reflector, context), left, request) === undefined;
      },
    };
    const own = grant.limits[rateClass];
    const size = own ? bucketSizeOf(own) : { burst: limit, interval: Math.round(ttl * 1_000) };
    const charge = charged ?? (await this.charge(grant.clientId, rateClass, size));
    setRateLimitHeaders(response, rateClass, charge);
    if (!charge.allowed) throw new RateLimited(charge);
    return true;
  }

  private async authenticateAndCharge(request: Request, response: Response): Promise<AuthenticatedApplication> {
    try {
      return await this.tokens.authenticateAndCharge(bearerToken(request), rateClassOf(request.method));
    } catch (error) {
      if (error instanceof DomainError)
        response.setHeader('WWW-Authenticate', challengeOf(this.settings.baseUrl, error));
      throw error;
    }
  }

  /** Charges the request separately when the grant was not cached and Postgres identified the caller. */
  private async charge(clientId: string, rateClass: RateClass, { burst, interval }: BucketSize): Promise<Charge> {
    const record = await this.storageService.increment(clientId, interval / 1_000, burst, 0, rateClass);
    return {
      allowed: !record.isBlocked,
      limit: burst,
      remaining: burst - record.totalHits,
      retryAfterSeconds: record.timeToBlockExpire,
      secondsToFull: record.timeToExpire,
      windowSeconds: Math.ceil((interval * burst) / 1_000_000),
    };
  }
}

/** Node keeps the first of two Authorization headers, but the client may have meant either. Both are refused. */
function bearerToken(request: Request): string {
  if ((request.headersDistinct['authorization'] ?? []).length > 1) throw new TokenInvalid();
  const header = request.headers.authorization;
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) throw new TokenMissing();
  const [, token] = BEARER.exec(header) ?? [];
  if (token === undefined) throw new TokenInvalid();
  return token;
}
