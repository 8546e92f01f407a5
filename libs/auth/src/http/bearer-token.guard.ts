import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DomainError } from '#libs/kernel';
import { accessOf, rateClassOf } from '#libs/platform';
import type { Request, Response } from 'express';
import { AccessTokensService } from '../application/access-tokens.service';
import { TokenInvalid, TokenMissing } from '../domain/authentication-errors';

const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const CHALLENGE = 'Bearer realm="compliance-api"';

/** Finds out who calls (RFC 6750). Runs before everything that could tell a stranger something. */
@Injectable()
export class BearerTokenGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: AccessTokensService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (accessOf(this.reflector, context).kind === 'public') return true;
    const request = context.switchToHttp().getRequest<Request>();
    try {
      const token = bearerToken(request);
      const { grant, scopes, charge, freshness } = await this.tokens.authenticate(token, rateClassOf(request.method));
      const { workspaceId, id, clientId, limits } = grant;
      request.context.caller = { workspaceId, applicationId: id, clientId, scopes, limits, freshness };
      request.context.charge = charge;
      return true;
    } catch (error) {
      challenge(context.switchToHttp().getResponse<Response>(), error);
      throw error;
    }
  }
}

/** Node keeps the first of two Authorization headers; which one was meant cannot be known, so both are refused. */
function bearerToken(request: Request): string {
  const sent = request.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization');
  if (sent.length > 1) throw new TokenInvalid();
  const header = request.headers.authorization;
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) throw new TokenMissing();
  const [, token] = BEARER.exec(header) ?? [];
  if (token === undefined) throw new TokenInvalid();
  return token;
}

function challenge(response: Response, error: unknown): void {
  if (error instanceof TokenMissing) response.setHeader('WWW-Authenticate', CHALLENGE);
  else if (error instanceof DomainError) {
    response.setHeader('WWW-Authenticate', `${CHALLENGE}, error="invalid_token", error_description="${error.detail}"`);
  }
}
