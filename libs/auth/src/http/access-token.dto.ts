import { ApiProperty } from '@nestjs/swagger';
import { ApiObject, constant, example } from '#libs/platform/openapi';

/** Specification, AccessTokenResponse; `scope` is additive (RFC 6749, 5.1). */
@ApiObject({ name: 'AccessTokenResponse', description: 'The one active token of the application.' })
export class AccessTokenDto {
  @ApiProperty({
    minLength: 1,
    maxLength: 8192,
    description: 'Signed RS256 bearer token. Its content is not part of the contract: send it unchanged.',
    example: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjaV8zZjlhIn0.c2lnbmF0dXJl',
  })
  access_token!: string;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Lifetime in seconds.',
    example: 3600,
  })
  expires_in!: number;

  @ApiProperty({ ...constant('Bearer'), description: 'Always `Bearer`.' })
  token_type!: 'Bearer';

  @ApiProperty({
    maxLength: 1000,
    description: 'Scopes of the token, separated by spaces.',
    example: 'inventory:read inventory:write',
  })
  scope!: string;
}

export const ACCESS_TOKEN_EXAMPLES = {
  issued: example<AccessTokenDto>('A token with every granted scope', {
    access_token: 'eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJjaV8zZjlhIn0.c2lnbmF0dXJl',
    expires_in: 3600,
    token_type: 'Bearer',
    scope: 'inventory:read inventory:write',
  }),
};
