import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError, ERROR_CODES } from '#libs/kernel';
import type { Request, Response } from 'express';
import { Settings } from '../config/settings';
import { prefersPage } from '../http/prefers-page';
import { Public } from '../http/route-access';
import { describeProblem, problemListPage, problemPage } from './problem-page';

/** What a page may load: nothing but its own few rules of style. */
const NOTHING_ELSE =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The addresses that `type` of a problem names: a page for people, JSON for programs. */
@ApiExcludeController()
@Public()
@Controller('problems')
export class ProblemPagesController {
  constructor(private readonly settings: Settings) {}

  @Get()
  list(@Req() request: Request, @Res({ passthrough: true }) response: Response): unknown {
    const problems = ERROR_CODES.map((code) => describeProblem(code, this.settings.baseUrl));
    return answer(request, response, { problems }, () => problemListPage(problems));
  }

  @Get(':code')
  get(@Param('code') name: string, @Req() request: Request, @Res({ passthrough: true }) response: Response): unknown {
    const code = ERROR_CODES.find((known) => known === name);
    if (!code) throw new DomainError('not_found', 'There is no problem of this code.');
    const problem = describeProblem(code, this.settings.baseUrl);
    return answer(request, response, problem, () => problemPage(problem));
  }
}

/** The same for everybody until the next release, so caches may keep it for an hour. */
function answer(request: Request, response: Response, described: object, page: () => string): unknown {
  response.setHeader('Vary', 'Accept');
  response.setHeader('Cache-Control', 'public, max-age=3600');
  if (!prefersPage(request)) return described;
  response.setHeader('Content-Security-Policy', NOTHING_ELSE);
  response.type('html');
  return page();
}
