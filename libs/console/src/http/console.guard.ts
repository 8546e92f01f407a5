import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { formReader } from '#libs/platform/http/server';
import type { Request, Response } from 'express';
import { type Role } from '../domain/person';
import type { SignedIn } from '../domain/signed-in';
import { Sessions } from '../typeorm/sessions';
import { Access } from './access.decorator';
import { BOOKMARK, Cookies, SIGN_IN_MS } from './cookies';
import { FairShare } from './fair-share';
import { assertForm } from './form-token';
import { AnotherResponse } from './page';
import type { Typed } from './read-fields';

/** The longest field has 20,000 characters, each of up to 12 bytes in a form. */
const readForm = formReader('256kb');

/** Lets a request pass when its session is alive, the role suffices, and a form comes from a page of this session. */
@Injectable()
export class ConsoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: Sessions,
    private readonly cookies: Cookies,
    private readonly share: FairShare,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const places = [context.getHandler(), context.getClass()];
    const needed = this.reflector.getAllAndOverride(Access, places) as Role | 'anyone' | undefined;
    if (needed === undefined) throw new Error('A route of the console does not say who may call it.');
    const request = context.switchToHttp().getRequest<Request>();
    // Forms of a kind that is not read here are as empty ones.
    request.body ??= {};
    if (needed === 'anyone') return true;
    const admit = (request.admit = () => this.admit(request, needed));
    const signedIn = await admit();
    const response = context.switchToHttp().getResponse<Response>();
    this.share.enter(response);
    if (request.method === 'GET' || request.method === 'HEAD') return true;
    // A form with a file says in its address who sent it, so that nothing is stored for anybody else.
    if (request.is('multipart/form-data')) assertForm(signedIn, request.query);
    else {
      // Nobody else's body is read.
      await readForm(request, response);
      // The right may have ended while the form came. Signing out is about no workspace.
      assertForm(await admit(), request.body as Typed, request.path === '/sign-out');
    }
    await this.share.charge(response, 'form');
    // Its place was given back when its client left.
    return !response.closed;
  }

  /** Finds who sends the request. @throws {@link AnotherResponse} for nobody, and 403 for a role that does not suffice */
  private async admit(request: Request, needed: Role): Promise<SignedIn> {
    const cookie = this.cookies.read(request, 'session');
    const signedIn = cookie === null ? null : await this.sessions.find(cookie, request.context.requestId);
    // A dead cookie stays: this request may be older than a switch, whose cookie a clearing would take away.
    if (!signedIn)
      throw new AnotherResponse((response) => {
        const { method, originalUrl } = request;
        if (method === 'GET' && BOOKMARK.test(originalUrl)) this.cookies.set(response, 'page', originalUrl, SIGN_IN_MS);
        // A browser that still sends a file follows no redirect. It shows a refusal, and follows its header.
        const isSending = request.is('multipart/form-data') && !request.complete;
        response.setHeader('Refresh', '0; url=/sign-in').redirect(isSending ? 401 : 303, '/sign-in');
      });
    request.signedIn = signedIn;
    if (signedIn.role === 'admin' || needed === 'viewer') return signedIn;
    throw new ForbiddenException('Only administrators of the workspace may do this.');
  }
}
