import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError, ERROR_CODES, type ErrorCode } from '#libs/kernel';
import type { Request, Response } from 'express';
import { Settings } from '../config/settings';
import { Public } from './route-access';
import { describeProblem, problemListPage, problemPage } from '../problems/problem-page';

/** Content security policy: a page may use the style and the icon of the guides and nothing else. */
const NOTHING_ELSE =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the URLs in `type` of a problem: a page for people, JSON for programs. */
@ApiExcludeController()
@Public()
@Controller('problems')
export class ProblemPagesController {
  constructor(private readonly settings: Settings) {}

  @Get()
  list(@Req() request: Request, @Res({ passthrough: true }) response: Response): object | string {
    const problems = ERROR_CODES.map((code) => this.describe(code));
    return send(request, response, { problems }, () => problemListPage(problems));
  }

  @Get(':code')
  get(@Req() request: Request, @Res({ passthrough: true }) response: Response): object | string {
    const code = ERROR_CODES.find((one) => one === request.params['code']);
    if (!code) throw new DomainError('not_found', 'There is no problem of this code.');
    const problem = this.describe(code);
    return send(request, response, problem, () => problemPage(problem));
  }

  private describe(code: ErrorCode) {
    return describeProblem(code, this.settings.baseUrl);
  }
}

/** The page changes with a release only, so caches may keep it for an hour. */
function send(request: Request, response: Response, described: object, page: () => string): object | string {
  response.setHeader('Vary', 'Accept');
  response.setHeader('Cache-Control', 'public, max-age=3600');
  if (!prefersPage(request)) return described;
  response.setHeader('Content-Security-Policy', NOTHING_ELSE);
  response.type('html');
  return page();
}

/** Tells browsers from programs. Browsers prefer HTML; a client without a preference counts as a program. */
export const prefersPage = (request: Request): boolean => request.accepts(['json', 'html']) === 'html';
