import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { readForm } from '#libs/platform/http';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';

const MAX_FORM_BYTES = 16_384;

/**
 * Reads the form of a request before its pipe checks it.
 * @throws `unsupported_media_type`, `payload_too_large`, `validation_failed`
 */
@Injectable()
export class ReadFormInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    request.body = await readForm(request, response, MAX_FORM_BYTES);
    return next.handle();
  }
}
