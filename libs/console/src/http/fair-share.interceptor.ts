import {
  type CallHandler,
  type ExecutionContext,
  HttpException,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Observable, finalize } from 'rxjs';

/** Pages and downloads that an instance makes for one person at once. One connection of its pool stays for others. */
const MOST = { download: 1, page: 3 };

/** Bounds the pages of each person that are made at once. One that is asked for too early loads itself again. */
@Injectable()
export class FairShareInterceptor implements NestInterceptor {
  /** The person and the kind of each request. */
  private readonly underWay: string[] = [];

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { signedIn, path, method } = http.getRequest<Request>();
    // A refused form would lose what was typed.
    if (!signedIn || method === 'POST') return next.handle();
    const kind = path.endsWith('/download') ? 'download' : 'page';
    const one = `${signedIn.personId} ${kind}`;
    if (this.underWay.filter((other) => other === one).length >= MOST[kind]) {
      if (kind === 'page') http.getResponse<Response>().setHeader('Refresh', '1');
      throw new HttpException(`Too many of your ${kind}s are under way. Wait a little.`, 429);
    }
    this.underWay.push(one);
    return next.handle().pipe(finalize(() => void this.underWay.splice(this.underWay.indexOf(one), 1)));
  }
}
