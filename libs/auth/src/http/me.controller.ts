import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { RATE_CLASSES } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { AnyToken, type Caller, CurrentCaller } from '#libs/platform/http';
import { NoQueryDto } from '#libs/platform/input';
import { ApiSuccess, ApiAnyTokenProblems } from '#libs/platform/openapi';
import { TokenBuckets, bucketSizeOf, clearRateLimitHeaders, limitOf } from '#libs/platform/throttling';
import type { Response } from 'express';
import { TokenInvalid } from '../domain/authentication-errors';
import type { Grant } from '../domain/application';
import { GrantRepository } from '../domain/grant-repository.port';
import { challengeOf } from './bearer-challenge';
import { ME_EXAMPLES, MeDto, type MyLimitsDto } from './me.dto';

@ApiTags('Authentication')
@Controller('v1/me')
export class MeController {
  constructor(
    private readonly grants: GrantRepository,
    private readonly buckets: TokenBuckets,
    private readonly settings: Settings,
  ) {}

  @Get()
  @AnyToken()
  @ApiOperation({
    operationId: 'getMe',
    summary: 'Get your application, its scopes and its limits',
    description:
      'Needs any valid token. Returns the application and its workspace, the token and its scopes, and the limits with the tokens left in each bucket. The request takes one token from the read bucket.',
  })
  @ApiSuccess(MeDto, { description: 'The application of the token.', examples: ME_EXAMPLES })
  @ApiAnyTokenProblems('validation_failed')
  async get(
    @CurrentCaller() caller: Caller,
    @Query() _query: NoQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MeDto> {
    const application = await this.grants.findWithWorkspace(caller.workspaceId, caller.clientId);
    if (!application) {
      const deleted = new TokenInvalid();
      clearRateLimitHeaders(response);
      response.setHeader('WWW-Authenticate', challengeOf(this.settings.baseUrl, deleted));
      throw deleted;
    }
    return {
      workspace: { id: application.workspaceId, slug: application.workspaceSlug },
      application: { id: application.id, clientId: application.clientId, name: application.name },
      token: {
        issuedAt: fromSeconds(caller.token.issuedAt),
        expiresAt: fromSeconds(caller.token.expiresAt),
        scopes: caller.scopes,
      },
      grantedScopes: application.scopes,
      limits: await this.limitsOf(application),
    };
  }

  private async limitsOf({ clientId, limits: own }: Grant): Promise<MyLimitsDto> {
    const limits = RATE_CLASSES.map((name) => [name, limitOf(name, own, this.settings.rateLimits)] as const);
    const sizes = limits.map(([name, limit]) => [name, bucketSizeOf(limit)] as const);
    const left = await this.buckets.tokensLeft(clientId, sizes);
    const members = limits.map(([name, { burst, perMinute }], index) => [
      name,
      { burst, perMinute, remaining: left[index] },
    ]);
    return Object.fromEntries(members) as MyLimitsDto;
  }
}

const fromSeconds = (seconds: number): string => new Date(seconds * 1000).toISOString();
