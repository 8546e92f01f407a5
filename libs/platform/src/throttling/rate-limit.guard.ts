import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest, type ThrottlerStorage } from '@nestjs/throttler';
import { type Charge, RateLimited } from '#libs/kernel';
import type { Request, Response } from 'express';
import { accessOf } from '../http/route-access';
import { setRateLimitHeaders } from './rate-limit-headers';
import { rateClassOf } from './rate-limit';

type Charged = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/**
 * Charges every authenticated request to its client's bucket, whatever becomes of it (decisions, section 3). The stock
 * guard counts in windows by route and address, and says nothing of limits on 429; what it offers is kept: options,
 * storage, and the place to step in.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(accessOf(this.reflector, context).kind === 'public');
  }

  protected override async handleRequest({ context, limit, ttl }: ThrottlerRequest): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { caller, charge: chargedAlready } = request.context;
    if (!caller) throw new Error('A request without a caller reached the limiter.');
    const rateClass = rateClassOf(request.method);
    const charge =
      chargedAlready ??
      toCharge(await this.storageService.increment(caller.clientId, ttl, limit, 0, rateClass), limit, ttl);
    setRateLimitHeaders(context.switchToHttp().getResponse<Response>(), rateClass, charge);
    if (!charge.allowed) throw new RateLimited(charge);
    return true;
  }
}

function toCharge(record: Charged, limit: number, ttl: number): Charge {
  return {
    allowed: !record.isBlocked,
    limit,
    remaining: Math.max(0, limit - record.totalHits),
    retryAfterSeconds: record.timeToBlockExpire,
    secondsToFull: record.timeToExpire,
    windowSeconds: Math.ceil(ttl / 1_000),
  };
}
