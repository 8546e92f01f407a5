import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Role } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import type { Typed } from './read-fields';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard on every route but those for anyone. */
    signedIn?: SignedIn;
    /** Reads session and role again. Set where `signedIn` is. */
    admit?: () => Promise<SignedIn>;
  }
}

/** Sets the role that may call a route. A route without it serves nobody. */
export const Access = Reflector.createDecorator<Role | 'anyone'>();

/** A person's request: the names in its path, and its form. */
export type SentTo<Name extends string = never> = Readonly<Record<Name, string>> & {
  readonly me: SignedIn;
  readonly admit: NonNullable<Request['admit']>;
  readonly body: Typed;
};

/** Injects what was sent, and who sent it. */
export const Sent = createParamDecorator((_: unknown, context: ExecutionContext): object => {
  const request = context.switchToHttp().getRequest<Request>();
  return { ...request.params, body: request.body as unknown, me: request.signedIn, admit: request.admit };
});
