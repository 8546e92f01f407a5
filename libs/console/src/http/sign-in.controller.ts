import { Controller, ForbiddenException, Get, NotFoundException, Post, Redirect, Res } from '@nestjs/common';
import { Settings } from '#libs/platform/config';
import { formReader } from '#libs/platform/http/server';
import type { Response } from 'express';
import type { Account } from '../domain/person';
import { Issuer } from '../system/issuer.system';
import { People } from '../typeorm/people';
import { Sessions } from '../typeorm/sessions';
import { type WorkspaceSecret, digestOf, newSecret, textOf } from '../typeorm/workspace-secret';
import { Access, Sent, type SentTo } from './access.decorator';
import { BOOKMARK, Cookies, SIGN_IN_MS } from './cookies';
import { isSame, tokenOf } from './form-token';
import { linksWork } from './loopback';
import { sendPage } from './page';
import type { Typed } from './read-fields';
import { SignInLimit } from './sign-in-limit';

const readLinkForm = formReader('4kb');

/** They tell nothing of workspaces and people. */
const REFUSED = 'This did not sign you in. Ask an administrator of your workspace for access.';

@Controller()
@Access('viewer')
export class SignInController {
  constructor(
    private readonly settings: Settings,
    private readonly people: People,
    private readonly sessions: Sessions,
    private readonly issuer: Issuer,
    private readonly cookies: Cookies,
    private readonly limit: SignInLimit,
  ) {}

  @Get('sign-in')
  @Access('anyone')
  show(@Res() response: Response): void {
    sendPage(response, 'signIn', { title: 'Sign in', hasIssuer: this.settings.console.oidc !== null });
  }

  @Get('sign-in/start')
  @Access('anyone')
  async start(@Res() response: Response): Promise<void> {
    const { address, kept } = await this.issuer.begin();
    this.cookies.set(response, 'sign_in', kept, SIGN_IN_MS);
    response.redirect(303, address);
  }

  /** The issuer sends the browser back here. */
  @Get('sign-in/callback')
  @Access('anyone')
  async finish(@Res() response: Response): Promise<void> {
    this.issuer.getClient();
    const { req: request } = response;
    const kept = this.cookies.read(request, 'sign_in');
    if (kept === null || request.query['state'] !== kept.split('.')[0]) {
      // A page of any site can send browsers here, and must not use up the limit of their address. A sign-in that the
      // browser began later goes on.
      this.limit.tell(response, 'the browser began no such sign-in');
      throw new ForbiddenException(REFUSED);
    }
    this.cookies.clear(response, 'sign_in');
    let hint = '';
    const people = await this.limit.check(response, async () => {
      const account = await this.issuer.finish(request.originalUrl, kept);
      if (typeof account === 'string') return account;
      // Entra shows it nowhere else.
      hint = ` The subject of your account is ${account.subject}`;
      return this.bind(account, request.context.requestId);
    });
    const [person, other] = people ?? [];
    if (!person) throw new ForbiddenException(REFUSED + hint);
    this.cookies.set(response, 'session', textOf(person));
    // Any workspace may have added the account, so the person chooses among several.
    response.redirect(303, other ? '/workspaces' : this.pageWanted(response));
  }

  @Get('sign-in/link/:token')
  @Access('anyone')
  showLink(@Sent() { token }: SentTo<'token'>, @Res() response: Response): void {
    if (!linksWork(this.settings, response.req)) throw new NotFoundException();
    sendPage(response, 'signInLink', { title: 'Sign in', csrf: linkTokenOf(token) });
  }

  @Post('sign-in/link/:token')
  @Access('anyone')
  async useLink(@Sent() { token }: SentTo<'token'>, @Res() response: Response): Promise<void> {
    const { req } = response;
    if (!linksWork(this.settings, req)) throw new NotFoundException();
    await readLinkForm(req, response);
    const session = await this.limit.check(response, async () => {
      if (!isSame(String((req.body as Typed)['csrf']), linkTokenOf(token))) return 'the form has no valid token';
      return (await this.people.useLink(token, req.context.requestId)) ?? 'the link is unknown, used or too old';
    });
    if (!session) throw new ForbiddenException('This link was used or is older than five minutes. Make another one.');
    this.cookies.set(response, 'session', textOf(session));
    response.redirect(303, this.pageWanted(response));
  }

  /** The address of a refused form, when it is opened again. */
  @Get('sign-out')
  @Redirect('/')
  stay(): void {}

  @Post('sign-out')
  async signOut(@Sent() { me }: SentTo, @Res() response: Response): Promise<void> {
    await this.sessions.end(me);
    this.cookies.clear(response, 'session');
    response.redirect(303, '/sign-in');
  }

  @Get('workspaces')
  async workspaces(@Sent() { me }: SentTo, @Res() response: Response): Promise<void> {
    const workspaces = await this.sessions.workspacesOf(me);
    sendPage(response, 'workspaces', { title: 'Switch workspace', workspaces });
  }

  @Post('workspaces')
  async switchWorkspace(@Sent() { me, body: { to } }: SentTo, @Res() response: Response): Promise<void> {
    const workspaces = await this.sessions.workspacesOf(me);
    const chosen = workspaces.find(({ workspaceId }) => workspaceId === to);
    if (!chosen) throw new NotFoundException();
    const moved = chosen.workspaceId === me.workspaceId ? null : await this.sessions.move(me, chosen);
    if (moved !== null) this.cookies.set(response, 'session', moved);
    response.redirect(303, this.pageWanted(response));
  }

  /** Binds the people whom the account opens, and begins a session of the first. Returns the reason where there is none. */
  private async bind(account: Account, requestId: string): Promise<WorkspaceSecret[] | string> {
    const bound: WorkspaceSecret[] = [];
    const secret = newSecret();
    for (const person of await this.sessions.memberships(account)) {
      const digest = bound.length === 0 ? digestOf(secret) : undefined;
      if (await this.people.bind(person, account, requestId, digest)) bound.push({ ...person, secret });
    }
    return bound.length > 0 ? bound : 'nobody was added with this account or verified address';
  }

  /** The page that led to the sign-in, or the overview. */
  private pageWanted(response: Response): string {
    const page = this.cookies.take(response, 'page') ?? '';
    return BOOKMARK.test(page) ? page : '/';
  }
}

/** Nobody is signed in yet, so the token of the form derives from the link. */
const linkTokenOf = (token: string): string => tokenOf(token, 'link form');
