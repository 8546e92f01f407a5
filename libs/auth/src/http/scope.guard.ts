import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { covers } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { accessOf } from '#libs/platform/http';
import type { Request, Response } from 'express';
import { InsufficientScope, TokenMissing } from '../domain/authentication-errors';
import { bearerChallenge } from './bearer-challenge';

/** Admits a caller whose scopes cover the route's. A refusal does not reveal what exists (decisions, section 1). */
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
    if (access.kind === 'token') return true;
    const needed = [access.scope, ...('expand' in request.query && access.toExpand ? [access.toExpand] : [])];
    const missing = needed.find((scope) => !covers(caller.scopes, scope));
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
