import { HttpException, Injectable, Logger } from '@nestjs/common';
import { sourceOf } from '#libs/platform/http/server';
import { Metrics, Tally } from '#libs/platform/observability';
import { TokenBuckets, bucketSizeOf } from '#libs/platform/throttling';
import type { Request, Response } from 'express';

/** Failed sign-ins of one address. */
const FAILURES = bucketSizeOf({ perMinute: 20, burst: 20 });
const BUCKET = 'failure';

/** Refuses an address after 20 failed sign-ins in a minute, and tells operators of each refusal. */
@Injectable()
export class SignInLimit {
  private readonly logger = new Logger('SignIn');
  private readonly outcomes = new Tally<'signed_in' | 'refused' | 'limited'>(['signed_in', 'refused', 'limited']);

  constructor(
    private readonly buckets: TokenBuckets,
    metrics: Metrics,
  ) {
    metrics.tally(
      { name: 'compliance_console_sign_ins_total', help: 'Sign-ins, by outcome.' },
      'outcome',
      this.outcomes,
    );
  }

  /** @throws 429 */
  async assertBelow(request: Request, response: Response): Promise<void> {
    const [left = 0] = await this.buckets.tokensLeft(ownerOf(request), [[BUCKET, FAILURES]]);
    if (left > 0) return;
    this.outcomes.add('limited');
    response.setHeader('Retry-After', '3');
    throw new HttpException('Too many sign-ins failed from this address. Wait a minute.', 429);
  }

  async failed(request: Request, reason: string): Promise<void> {
    this.outcomes.add('refused');
    this.logger.warn({ message: 'sign-in refused', requestId: request.context.requestId, reason });
    await this.buckets.charge(ownerOf(request), BUCKET, FAILURES);
  }

  succeeded(): void {
    this.outcomes.add('signed_in');
  }
}

const ownerOf = (request: Request): string => `console ${sourceOf(request)}`;
