import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { DomainError, ERROR_CODES } from '#libs/kernel';
import type { Request, Response } from 'express';
import { Settings } from '../config/settings';
import { JSON_RESPONSE } from './body/json-body';
import { prefersPage } from './prefers-page';
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
  private readonly listed: PreparedPage;
  private readonly pages: ReadonlyMap<string, PreparedPage>;

  constructor({ baseUrl }: Settings) {
    const problems = ERROR_CODES.map((code) => describeProblem(code, baseUrl));
    this.listed = prepare({ problems }, problemListPage(problems));
    this.pages = new Map(problems.map((problem) => [problem.code, prepare(problem, problemPage(problem))]));
  }

  @Get()
  list(@Req() request: Request, @Res({ passthrough: true }) response: Response): Buffer {
    return send(request, response, this.listed);
  }

  @Get(':code')
  get(@Req() request: Request, @Res({ passthrough: true }) response: Response): Buffer {
    const page = this.pages.get(String(request.params['code']));
    if (!page) throw new DomainError('not_found', 'There is no problem of this code.');
    return send(request, response, page);
  }
}

/** Built once and shared by all responses. */
interface PreparedPage {
  readonly json: Buffer;
  readonly html: Buffer;
}

const prepare = (described: object, page: string): PreparedPage => ({
  json: Buffer.from(JSON.stringify(described)),
  html: Buffer.from(page),
});

/** The page changes with a release only, so caches may keep it for an hour. */
function send(request: Request, response: Response, { json, html }: PreparedPage): Buffer {
  response.setHeader('Vary', 'Accept');
  response.setHeader('Cache-Control', 'public, max-age=3600');
  if (!prefersPage(request)) {
    response.setHeader('Content-Type', JSON_RESPONSE);
    return json;
  }
  response.setHeader('Content-Security-Policy', NOTHING_ELSE);
  response.type('html');
  return html;
}
