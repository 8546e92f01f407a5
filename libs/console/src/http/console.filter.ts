import { STATUS_CODES } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { DomainError } from '#libs/kernel';
import type { Request, Response } from 'express';
import { IssuerAway } from '../system/issuer.system';
import { SignInNeeded } from './console.guard';
import { sendPage } from './page';

const STATUS_OF_CODES: Readonly<Record<string, number>> = {
  validation_failed: 400,
  invalid_cursor: 400,
  cursor_expired: 400,
  not_found: 404,
  resource_not_writable: 403,
  precondition_failed: 409,
  service_unavailable: 503,
};

/** Turns every failure into a page. Only what is meant for people is shown. */
@Catch()
export class ConsoleFilter implements ExceptionFilter {
  private readonly logger = new Logger('Console');

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const { requestId } = host.switchToHttp().getRequest<Request>().context;
    if (error instanceof SignInNeeded) return response.redirect(303, '/sign-in');
    // Nobody waits any more, as when an upload is broken off.
    if (response.destroyed) return;
    const status = statusOf(error);
    if (status >= 500) this.logger.error({ message: 'request failed', requestId, error });
    if (response.headersSent) return void response.destroy();
    const isTold = error instanceof IssuerAway || (error instanceof Error && status < 500 && !(status in TOLD));
    const detail = isTold ? error.message : (TOLD[status] ?? 'Something went wrong on our side. Try again.');
    sendPage(response, 'refusal', { title: STATUS_CODES[status] ?? 'Error', detail, requestId }, status);
  }
}

const TOLD: Readonly<Record<number, string>> = {
  404: 'There is nothing at this address.',
  413: 'The file is longer than 100 MB, or the form is too long.',
  503: 'The database does not respond. Try again in a minute.',
};

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof IssuerAway) return 503;
  if (error instanceof DomainError) return STATUS_OF_CODES[error.code] ?? 500;
  // Errors of Express' readers of bodies.
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 ? status : 500;
}
