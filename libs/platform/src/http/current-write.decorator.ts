import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { ApplicationId, WorkspaceId } from '#libs/kernel';
import type { Request } from 'express';
import type { JsonBody } from './body/json-body';

/** A write as its route sees it: its sender, its idempotency key and its body. */
export interface CurrentWriteRequest {
  readonly workspaceId: WorkspaceId;
  readonly author: {
    readonly applicationId: ApplicationId;
    readonly clientId: string;
    readonly requestId: string;
    /** SHA-256 of the Idempotency-Key, hexadecimal. */
    readonly keyHash: string;
  };
  readonly body: JsonBody;
}

/**
 * Injects the current write. Only for routes behind the idempotency interceptor, which are all writes under a scope.
 */
export const CurrentWrite = createParamDecorator((_: unknown, context: ExecutionContext): CurrentWriteRequest => {
  const { caller, write, requestId } = context.switchToHttp().getRequest<Request>().context;
  if (!caller || !write) throw new Error('A route that is no write asks for one.');
  const { workspaceId, applicationId, clientId } = caller;
  return { workspaceId, author: { applicationId, clientId, requestId, keyHash: write.keyHash }, body: write.body };
});
