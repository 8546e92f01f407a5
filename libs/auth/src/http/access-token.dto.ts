import { ApiProperty } from '@nestjs/swagger';

/** Specification, AccessTokenResponse; `scope` is additive (RFC 6749, 5.1). */
export class AccessTokenDto {
  @ApiProperty({ description: 'Signed RS256 bearer token.' })
  access_token!: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Lifetime in seconds.' })
  expires_in!: number;

  @ApiProperty({ enum: ['Bearer'] })
  token_type!: 'Bearer';

  @ApiProperty({ description: 'Scopes of the token, separated by spaces.' })
  scope!: string;
}
