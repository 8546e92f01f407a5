import { type CustomDecorator, type ExecutionContext, SetMetadata, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import type { Role } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard on every route but those for anyone. */
    signedIn?: SignedIn;
  }
}

export const ACCESS = 'console:access';

/** Who may call a route. A route that does not say it serves nobody. */
export const Access = (needed: Role | 'anyone'): CustomDecorator => SetMetadata(ACCESS, needed);

/** Injects who uses the console. */
export const Me = createParamDecorator((_: unknown, context: ExecutionContext): SignedIn => {
  const { signedIn } = context.switchToHttp().getRequest<Request>();
  if (!signedIn) throw new Error('A route for anyone asks who is signed in.');
  return signedIn;
});
