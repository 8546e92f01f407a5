import { STATUS_CODES } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { PROBLEMS, toDomainError } from '#libs/platform/problems';
import type { Request, Response } from 'express';
import { AnotherResponse, sendPage } from './page';

/** Turns every failure into a page. Only what is meant for people is shown. */
@Catch()
export class ConsoleFilter implements ExceptionFilter {
  private readonly logger = new Logger('Console');

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const { requestId } = host.switchToHttp().getRequest<Request>().context;
    // Nobody waits any more, as when an upload is broken off.
    if (response.destroyed) return;
    if (error instanceof AnotherResponse) return error.send(response);
    const { status, detail } = refusalOf(error);
    if (status >= 500) this.logger.error({ message: 'request failed', requestId, error });
    if (response.headersSent) return void response.destroy();
    sendPage(response, 'refusal', { title: STATUS_CODES[status] ?? 'Error', status, detail, requestId });
  }
}

/** Replaces messages of libraries, and says the same of everything that is not there. */
const TOLD: Readonly<Record<number, string>> = {
  404: 'There is nothing at this address.',
  413: 'The form is too long.',
};
const DATABASE_AWAY = 'The database does not respond. Try again in a minute.';
const OURS = 'Something went wrong on our side. Try again.';

function refusalOf(thrown: unknown) {
  if (thrown instanceof HttpException) return told(thrown.getStatus(), thrown.message);
  // Errors of Express' readers of bodies.
  const { status: wanted, expose, message } = thrown as { status?: unknown; expose?: unknown; message: string };
  if (expose === true && typeof wanted === 'number' && wanted >= 400) return told(wanted, message);
  const error = toDomainError(thrown);
  const { status } = PROBLEMS[error.code];
  if (error === thrown) return told(status, error.detail);
  return { status, detail: status === 503 ? DATABASE_AWAY : OURS };
}

const told = (status: number, detail: string) => ({ status, detail: TOLD[status] ?? detail });
