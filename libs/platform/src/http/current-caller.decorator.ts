import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from './request-context';

/** Injects the caller. Only for routes that require a scope; other routes have no caller. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>().context;
  if (!caller) throw new Error('A route without a bearer token asks for its caller.');
  return caller;
});
