import { Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError, ERROR_CODES } from '#libs/kernel';
import type { Request, Response } from 'express';
import { Settings } from '../config/settings';
import { Public } from '../http/route-access';
import { describeProblem, problemListPage, problemPage } from './problem-page';

/** The addresses that `type` of a problem names: a page for people, JSON for programs. */
@ApiExcludeController()
@Public()
@Controller('problems')
export class ProblemPagesController {
  constructor(private readonly settings: Settings) {}

  @Get()
  @Header('Vary', 'Accept')
  list(@Req() request: Request, @Res({ passthrough: true }) response: Response): unknown {
    const problems = ERROR_CODES.map((code) => describeProblem(code, this.settings.baseUrl));
    if (!wantsPage(request)) return { problems };
    response.type('html');
    return problemListPage(problems);
  }

  @Get(':code')
  @Header('Vary', 'Accept')
  get(@Param('code') name: string, @Req() request: Request, @Res({ passthrough: true }) response: Response): unknown {
    const code = ERROR_CODES.find((known) => known === name);
    if (!code) throw new DomainError('not_found', 'There is no problem of this code.');
    const problem = describeProblem(code, this.settings.baseUrl);
    if (!wantsPage(request)) return problem;
    response.type('html');
    return problemPage(problem);
  }
}

/** Browsers name `text/html`; programs do not. */
function wantsPage(request: Request): boolean {
  return (request.headers.accept ?? '').includes('text/html');
}
