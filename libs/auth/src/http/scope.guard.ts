import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { covers } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { type RouteAccess, accessOf } from '#libs/platform/http';
import type { Request, Response } from 'express';
import { InsufficientScope, TokenMissing } from '../domain/authentication-errors';
import { bearerChallenge } from './bearer-challenge';

/** Admits a caller whose scopes cover the route's. A refusal does not reveal what exists. */
@Injectable()
export class ScopeGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(this.reflector, context);
    if (access.kind === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    const { caller } = request.context;
    if (!caller) throw new TokenMissing();
    const missing = missingScope(access, caller.scopes, request);
    if (missing === undefined) return true;
    context
      .switchToHttp()
      .getResponse<Response>()
      .setHeader(
        'WWW-Authenticate',
        bearerChallenge(this.settings.baseUrl, { error: 'insufficient_scope', scope: missing }),
      );
    throw new InsufficientScope(missing);
  }
}

/** The scope that the request lacks. Reads the query leniently: another parameter may be malformed. */
export function missingScope(access: RouteAccess, held: readonly string[], request: Request): string | undefined {
  if (access.kind !== 'scope') return undefined;
  const { scope, toExpand } = access;
  if (!covers(held, scope)) return scope;
  if (toExpand === undefined || covers(held, toExpand)) return undefined;
  const query = request.url.replace(/^[^?]*\??/, '');
  return new URLSearchParams(query).has('expand') ? toExpand : undefined;
}
