import { finished } from 'node:stream';
import {
  type CallHandler,
  type ExecutionContext,
  HttpException,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { TokenBuckets, bucketSizeOf } from '#libs/platform/throttling';
import type { Response } from 'express';
import { type Observable, finalize } from 'rxjs';

/** Responses of an instance to one person at once. A look-up of an owner keeps a connection busy for a second. */
const AT_ONCE = { download: 1, page: 3, form: 5, 'look-up': 2 };
const aMinute = (times: number) => bucketSizeOf({ perMinute: times, burst: times });
/** What one person gets of all instances together. */
const LIMITS = { download: aMinute(4), import: aMinute(30), form: aMinute(300) };

/** Bounds what each person asks for, so that others get theirs. The guard asks. */
@Injectable()
export class FairShare implements NestInterceptor {
  /** The person and the kind of each request, until its response is sent and its work ended. */
  private readonly underWay = new Map<Response, { readonly one: string; parts: number }>();

  constructor(private readonly buckets: TokenBuckets) {}

  /** Counts a request. A page that is asked for too early loads itself again. @throws 429 */
  enter(response: Response): void {
    const { signedIn, method, path, params } = response.req;
    // As its route decodes it: the path may say the same by other signs.
    const ofPost = params['field'] === 'owner' ? 'look-up' : 'form';
    const kind = method === 'POST' ? ofPost : /\/(?:download|failed-records)$/.test(path) ? 'download' : 'page';
    const one = `${signedIn?.personId} ${kind}`;
    if ([...this.underWay.values()].filter((other) => other.one === one).length >= AT_ONCE[kind]) {
      if (kind === 'page') response.setHeader('Refresh', '1');
      throw new HttpException(`Too many of your ${kind}s are under way. Wait a little.`, 429);
    }
    this.underWay.set(response, { one, parts: 0 });
    finished(response, this.begin(response));
  }

  /** The work goes on when its client leaves. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(finalize(this.begin(context.switchToHttp().getResponse())));
  }

  /** @throws 429 */
  async charge(response: Response, kind: keyof typeof LIMITS): Promise<void> {
    const owner = `person ${response.req.signedIn?.personId}`;
    const { allowed, limit, retryAfterSeconds } = await this.buckets.charge(owner, kind, LIMITS[kind]);
    if (allowed) return;
    response.setHeader('Retry-After', String(retryAfterSeconds));
    throw new HttpException(`You get ${limit} ${kind}s a minute. Wait a little.`, 429);
  }

  /** Returns what ends this part of a request. The last one gives its place back. */
  private begin(response: Response): () => void {
    const request = this.underWay.get(response) ?? { parts: 0 };
    request.parts += 1;
    return () => {
      request.parts -= 1;
      if (request.parts === 0) this.underWay.delete(response);
    };
  }
}
