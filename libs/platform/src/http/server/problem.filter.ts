import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { DomainError } from '#libs/kernel';
import type { Request, Response } from 'express';
import { Settings } from '../../config/settings';
import { PROBLEM_MEDIA_TYPE, type Problem, RETRIED_AT_ONCE, toDomainError, toProblem } from '../../problems/problem';

/** Turns errors into responses. Only a refusal of Node's parser, which has no request, goes another way (api-server.ts). */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Problem');

  constructor(private readonly settings: Settings) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.send(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }

  /**
   * Sends the problem for `thrown`. `extend` lets a route add members of its own protocol, such as those of RFC 6749 at
   * the token endpoint.
   */
  send(
    thrown: unknown,
    request: Request,
    response: Response,
    extend: (problem: Problem) => { readonly body: object; readonly mediaType: string } = (problem) => ({
      body: problem,
      mediaType: PROBLEM_MEDIA_TYPE,
    }),
  ): void {
    const error =
      thrown instanceof HttpException ? this.refusedByRouter(thrown, request, response) : toDomainError(thrown);
    const { requestId, instance, traceId } = request.context;
    const problem = toProblem(error, { baseUrl: this.settings.baseUrl, instance, requestId });
    request.context.problemCode = problem.code;
    if (problem.status >= 500) {
      const trace = traceId === null ? {} : { trace_id: traceId };
      this.logger.error({ message: 'request failed', requestId, code: problem.code, ...trace, error: thrown });
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (RETRIED_AT_ONCE.includes(problem.code)) response.setHeader('Retry-After', '1');
    const { body, mediaType } = extend(problem);
    const bytes = Buffer.from(JSON.stringify(body));
    response.statusCode = problem.status;
    response.setHeader('Content-Type', mediaType);
    response.setHeader('Content-Length', bytes.length);
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  /** Nest's router throws when no route matches. The path exists with another method, or does not exist. */
  private refusedByRouter(thrown: HttpException, request: Request, response: Response): DomainError {
    if (thrown.getStatus() !== 404) return new DomainError('validation_failed', 'The request is malformed.');
    const allowed = allowedMethods(request);
    // A route may pass a request on, as the one of static files does. Its own method is then not the fault.
    if (allowed.length === 0 || allowed.includes(request.method))
      return new DomainError('not_found', 'There is nothing at this path.');
    response.setHeader('Allow', allowed.join(', '));
    return new DomainError('method_not_allowed', `${request.method} is not allowed here.`);
  }
}

interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Returns the methods of all routes that match the request's path. May be empty. */
function allowedMethods(request: Request): string[] {
  const { stack } = (request.app as unknown as { router: { stack: RouterLayer[] } }).router;
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || !layer.match(request.path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
