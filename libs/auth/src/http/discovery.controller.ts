import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { SCOPES } from '#libs/kernel';
import { Settings } from '#libs/platform/config';
import { PublicKeys } from '#libs/platform/keys';
import { Public } from '#libs/platform/http';
import { NoQueryDto } from '#libs/platform/input';
import { ApiSuccess, ApiPublicProblems } from '#libs/platform/openapi';
import type { Response } from 'express';
import { PROTECTED_RESOURCE_PATH } from './bearer-challenge';
import {
  AUTHORIZATION_SERVER_EXAMPLES,
  AuthorizationServerDto,
  KEY_SET_EXAMPLES,
  KEY_SET_PATH,
  KeySetDto,
  PROTECTED_RESOURCE_EXAMPLES,
  ProtectedResourceDto,
  authorizationServerOf,
  protectedResourceOf,
} from './discovery.dto';

/** The documents change with a release or a setting only. */
const FOR_AN_HOUR = 'public, max-age=3600';
/** A new key signs a minute after it was made, so a copy must be half a minute old at most to hold it in time. */
const FOR_HALF_A_MINUTE = 'public, max-age=30';

/** Tells clients and resource servers where the token endpoint and the keys are. */
@ApiTags('Authentication')
@Public()
@Controller()
export class DiscoveryController {
  constructor(
    private readonly settings: Settings,
    private readonly publicKeys: PublicKeys,
  ) {}

  @Get('.well-known/oauth-authorization-server')
  @ApiOperation({
    operationId: 'getAuthorizationServer',
    summary: 'Describe the authorization server',
    description: 'OAuth 2.0 Authorization Server Metadata (RFC 8414). Needs no token.',
  })
  @ApiSuccess(AuthorizationServerDto, {
    description: 'The metadata.',
    examples: AUTHORIZATION_SERVER_EXAMPLES,
    charged: false,
    headers: { 'Cache-Control': 'cached' },
  })
  @ApiPublicProblems('validation_failed')
  authorizationServer(
    @Query() _query: NoQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): AuthorizationServerDto {
    response.setHeader('Cache-Control', FOR_AN_HOUR);
    return authorizationServerOf(this.settings.baseUrl, SCOPES);
  }

  @Get(PROTECTED_RESOURCE_PATH)
  @ApiOperation({
    operationId: 'getProtectedResource',
    summary: 'Describe the API as a protected resource',
    description:
      'OAuth 2.0 Protected Resource Metadata (RFC 9728). Needs no token. Every bearer challenge names its address as ' +
      '`resource_metadata`.',
  })
  @ApiSuccess(ProtectedResourceDto, {
    description: 'The metadata.',
    examples: PROTECTED_RESOURCE_EXAMPLES,
    charged: false,
    headers: { 'Cache-Control': 'cached' },
  })
  @ApiPublicProblems('validation_failed')
  protectedResource(@Query() _query: NoQueryDto, @Res({ passthrough: true }) response: Response): ProtectedResourceDto {
    response.setHeader('Cache-Control', FOR_AN_HOUR);
    return protectedResourceOf(this.settings.baseUrl, SCOPES);
  }

  @Get(KEY_SET_PATH)
  @ApiOperation({
    operationId: 'getKeySet',
    summary: 'List the public keys',
    description:
      'JSON Web Key Set (RFC 7517). Needs no token. RSA keys verify tokens. Ed25519 keys (RFC 8037) verify checkpoints ' +
      'of the audit. A new key appears here before it signs.',
  })
  @ApiSuccess(KeySetDto, {
    description: 'The keys, newest first.',
    examples: KEY_SET_EXAMPLES,
    charged: false,
    headers: { 'Cache-Control': 'cached' },
  })
  @ApiPublicProblems('validation_failed')
  keySet(@Query() _query: NoQueryDto, @Res({ passthrough: true }) response: Response): KeySetDto {
    response.setHeader('Cache-Control', FOR_HALF_A_MINUTE);
    return this.publicKeys.jwks;
  }
}
