import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Request, Response } from 'express';
import { type Observable, lastValueFrom, of } from 'rxjs';
import { JSON_RESPONSE, JSON_MEDIA_TYPES, type JsonBody, parseJson } from '../http/body/json-body';
import { readBody } from '../http/body/request-body';
import { millisecondsSince } from '../http/request-context';
import type { ApiServerAdapter } from '../http/server/api-server';
import { Idempotency } from './idempotency';
import { type IdempotentResponse, fingerprintOf, idempotencyKeyHash } from './idempotent-request';

/**
 * Makes a write under /v1 happen at most once per Idempotency-Key (specification, Idempotency rules). Runs after the
 * guards and before the pipes: key, body, stored response, and only then validation of the body.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly server: HttpAdapterHost<ApiServerAdapter>,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const { caller, requestId } = request.context;
    if (!caller) throw new Error('A write without a caller reached its key.');
    // Time spent on authentication and rate limits. The time in which the body arrives is the client's.
    const waitedMs = millisecondsSince(request.context);
    const keyHash = idempotencyKeyHash(request);
    const body = await readJsonBody(request, response);
    const { workspaceId, applicationId, clientId } = caller;
    const author = { applicationId, clientId, requestId, keyHash };
    request.context.write = { workspaceId, author, mediaType: body.mediaType };
    request.body = body.value;
    const fingerprint = fingerprintOf(request.method, request.path, body);
    try {
      const { response: stored, replayed } = await this.idempotency.respond(
        { workspaceId, applicationId, keyHash, fingerprint },
        async () => {
          const made = toResponse(await lastValueFrom(next.handle()), response);
          this.server.httpAdapter.holdUpdate(response, made.body);
          return made;
        },
        waitedMs,
      );
      if (replayed) response.setHeader('Idempotent-Replayed', 'true');
      send(stored, response);
      return of(stored.body);
    } catch (error) {
      // A failed request must not carry the entity tag that its route has set.
      response.removeHeader('ETag');
      throw error;
    }
  }
}

/**
 * Marks a write that happens at most once per Idempotency-Key (specification, Idempotency rules). A test requires it on
 * every write under a scope. Reads omit it, because an interceptor costs as much as the guards.
 */
export const Idempotent = (): MethodDecorator => UseInterceptors(IdempotencyInterceptor);

async function readJsonBody(request: Request, response: Response): Promise<JsonBody> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  // An empty body is a missing body, not a wrong media type.
  if (encoding === undefined && length === '0') parseJson(new Uint8Array());
  const { mediaType, bytes } = await readBody(request, response, JSON_MEDIA_TYPES);
  return { mediaType, value: parseJson(bytes) };
}

function toResponse(result: unknown, response: Response): IdempotentResponse {
  const entityTag = response.getHeader('ETag');
  return {
    status: response.statusCode,
    body: JSON.stringify(result),
    entityTag: typeof entityTag === 'string' ? entityTag : null,
  };
}

function send({ status, entityTag }: IdempotentResponse, response: Response): void {
  response.statusCode = status;
  response.setHeader('Content-Type', JSON_RESPONSE);
  if (entityTag !== null) response.setHeader('ETag', entityTag);
}
