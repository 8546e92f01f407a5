import { HttpException, Injectable, Logger } from '@nestjs/common';
import { sourceOf } from '#libs/platform/http/server';
import { Metrics, Tally } from '#libs/platform/observability';
import { TokenBuckets, bucketSizeOf } from '#libs/platform/throttling';
import type { Response } from 'express';

/** Failed sign-ins of one address. */
const FAILURES = bucketSizeOf({ perMinute: 20, burst: 20 });

/** Refuses an address after 20 failed sign-ins in a minute, and tells operators of each refusal. */
@Injectable()
export class SignInLimit {
  private readonly logger = new Logger('SignIn');
  private readonly outcomes = new Tally(['signed_in', 'refused', 'limited']);

  constructor(
    private readonly buckets: TokenBuckets,
    metrics: Metrics,
  ) {
    const metric = { name: 'compliance_console_sign_ins_total', help: 'Sign-ins, by outcome.' };
    metrics.tally(metric, 'outcome', this.outcomes);
  }

  /**
   * Runs a check of who somebody is, which returns why it is nobody as a text. A failure is charged before the check, so that
   * guesses at the same time count too, and is given back unless it was one. Returns null for nobody. @throws 429
   */
  async check<Who extends object>(response: Response, check: () => Promise<Who | string>): Promise<Who | null> {
    const owner = `console ${sourceOf(response.req)}`;
    const { allowed, retryAfterSeconds } = await this.buckets.charge(owner, 'failure', FAILURES);
    if (!allowed) {
      this.tell(response, 'too many sign-ins failed from this address', 'limited');
      response.setHeader('Retry-After', String(retryAfterSeconds));
      throw new HttpException('Too many sign-ins failed from this address. Wait a little.', 429);
    }
    let found: Who | string | null = null;
    try {
      found = await check();
    } finally {
      if (typeof found !== 'string') await this.buckets.giveBack(owner, 'failure', FAILURES);
    }
    if (typeof found === 'string') return this.tell(response, found);
    this.outcomes.add('signed_in');
    return found;
  }

  /** Tells operators of a refusal. It is not charged here. */
  tell({ req }: Response, reason: string, outcome: 'refused' | 'limited' = 'refused'): null {
    this.outcomes.add(outcome);
    this.logger.warn({ message: 'sign-in refused', requestId: req.context.requestId, reason });
    return null;
  }
}
