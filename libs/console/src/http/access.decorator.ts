import { type CustomDecorator, type ExecutionContext, SetMetadata, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import type { Role } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import type { Typed } from './read-fields';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard on every route but those for anyone. */
    signedIn?: SignedIn;
  }
}

export const ACCESS = 'console:access';

/** Sets the role that may call a route. A route without it serves nobody. */
export const Access = (needed: Role | 'anyone'): CustomDecorator => SetMetadata(ACCESS, needed);

/** A person's request: the names in its path, and its form. */
export type SentTo<Name extends string = never> = Readonly<Record<Name, string>> & {
  readonly me: SignedIn;
  readonly body: Typed;
};

/** Injects what was sent, and who sent it. */
export const Sent = createParamDecorator((_: unknown, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  return { ...request.params, body: request.body as unknown, me: request.signedIn };
});
