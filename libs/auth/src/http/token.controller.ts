import { Body, Controller, HttpCode, Post, Req, Res, UseFilters, UseInterceptors } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiSuccess } from '#libs/platform/openapi';
import { FORM_MEDIA_TYPE, Public } from '#libs/platform/http';
import { Settings } from '#libs/platform/config';
import { setRateLimitHeaders } from '#libs/platform/throttling';
import { sourceOf } from '#libs/platform/http/server';
import type { Request, Response } from 'express';
import { AccessTokensService } from '../application/access-tokens.service';
import { AudienceUnsupported } from '../domain/token-request-errors';
import { ACCESS_TOKEN_EXAMPLES, AccessTokenDto } from './access-token.dto';
import { ApiTokenProblems } from './api-token-problems.decorator';
import { ReadFormInterceptor } from './read-form.interceptor';
import { TokenProblemFilter } from './token-problem.filter';
import { TOKEN_REQUEST_EXAMPLES, TokenRequestDto } from './token-request.dto';
import { TokenRequestOutcomes } from './token-problem';
import { toTokenRequest } from './token-request';

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
  @UseInterceptors(ReadFormInterceptor)
  @ApiOperation({
    operationId: 'issueToken',
    summary: 'Issue an access token',
    description:
      'OAuth 2.0 client credentials grant. An application has one active token, and a new token ends the previous one. So keep a token until it expires, and share it among all workers. Send the secret in the form or by HTTP Basic, not both. Or send an assertion that is signed with a key of the application (RFC 7523), and no secret. Errors are `application/json` if your `Accept` header names that and not `application/problem+json`.',
  })
  @ApiConsumes(FORM_MEDIA_TYPE)
  @ApiBody({
    type: TokenRequestDto,
    required: true,
    description: 'At most 16 KiB, not compressed.',
    examples: TOKEN_REQUEST_EXAMPLES,
  })
  @ApiSuccess(AccessTokenDto, {
    description: 'The new token. The previous token has ended.',
    examples: ACCESS_TOKEN_EXAMPLES,
  })
  @ApiTokenProblems()
  async issue(
    @Body() form: TokenRequestDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AccessTokenDto> {
    const { clientId, proof, audience, scopes } = toTokenRequest(request, form);
    if (audience !== null && audience !== this.settings.tokenAudience) throw new AudienceUnsupported();
    const issued = await this.tokens.issue(clientId, proof, sourceOf(request), scopes, (charge) =>
      setRateLimitHeaders(response, 'token', charge),
    );
    request.context.issuedTo = issued.clientId;
    this.outcomes.add('issued');
    return {
      access_token: issued.token,
      expires_in: issued.expiresInSeconds,
      token_type: 'Bearer',
      scope: issued.scopes.join(' '),
    };
  }
}
