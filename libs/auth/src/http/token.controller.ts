import { Controller, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiBasicAuth, ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Public, Settings, readBody, setRateLimitHeaders, sourceOf } from '#libs/platform';
import type { Request, Response } from 'express';
import { AccessTokensService } from '../application/access-tokens.service';
import { AudienceUnsupported } from '../domain/token-request-errors';
import { AccessTokenDto } from './access-token.dto';
import { TokenProblemFilter } from './token-problem.filter';
import { TokenRequestDto } from './token-request.dto';
import { TokenRequestOutcomes } from './token-request-outcomes';
import { readTokenRequest } from './token-request';

const FORM = 'application/x-www-form-urlencoded';

@ApiTags('Authentication')
@Controller('oauth/token')
@UseFilters(TokenProblemFilter)
export class TokenController {
  constructor(
    private readonly tokens: AccessTokensService,
    private readonly settings: Settings,
    private readonly outcomes: TokenRequestOutcomes,
  ) {}

  @Post()
  @Public()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'issueToken',
    summary: 'Issue an access token',
    description:
      'OAuth 2.0 client credentials grant. One token is active per application: a new one supersedes the one before. ' +
      'Credentials stand in the form or in HTTP Basic, not both.',
  })
  @ApiConsumes(FORM)
  @ApiBody({ type: TokenRequestDto })
  @ApiBasicAuth('client')
  @ApiOkResponse({ type: AccessTokenDto })
  @ApiProblems(
    'invalid_request',
    'unsupported_grant_type',
    'invalid_scope',
    'unsupported_audience',
    'invalid_client',
    'rate_limited',
    'payload_too_large',
    'unsupported_media_type',
    'internal_error',
    'service_unavailable',
  )
  async issue(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<AccessTokenDto> {
    const { bytes } = await readBody(request, response, [FORM]);
    const { clientId, clientSecret, audience, scopes } = readTokenRequest(request, bytes);
    if (audience !== null && audience !== this.settings.tokenAudience) throw new AudienceUnsupported();
    const issued = await this.tokens.issue(clientId, clientSecret, sourceOf(request), scopes);
    setRateLimitHeaders(response, 'token', issued.charge);
    request.context.issuedTo = clientId;
    this.outcomes.add('issued');
    return {
      access_token: issued.token,
      expires_in: issued.expiresInSeconds,
      token_type: 'Bearer',
      scope: issued.scopes.join(' '),
    };
  }
}
