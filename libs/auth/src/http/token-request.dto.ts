import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ApiObject, constant } from '#libs/platform/openapi';

/** The form of a token request, for the contract. `token-request.ts` parses it. */
@ApiObject({
  name: 'TokenRequest',
  description: 'Client credentials grant (RFC 6749, 4.4). Each parameter once; unknown ones are ignored.',
})
export class TokenRequestDto {
  @ApiProperty({
    ...constant('client_credentials'),
    description: 'Always `client_credentials`: the one grant that there is.',
  })
  grant_type!: string;

  @ApiPropertyOptional({
    minLength: 1,
    maxLength: 200,
    description: 'Required unless HTTP Basic is used, and absent or the same then.',
    example: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8',
  })
  client_id?: string;

  @ApiPropertyOptional({
    format: 'password',
    minLength: 1,
    maxLength: 200,
    description: 'Required unless HTTP Basic is used, and absent then.',
    example: 'cs_the-secret-of-the-application',
  })
  client_secret?: string;

  @ApiPropertyOptional({
    maxLength: 2048,
    description: 'The audience of this API, exactly; absent, it is understood. Any other gives `unsupported_audience`.',
    example: 'https://api.example.com',
  })
  audience?: string;

  @ApiPropertyOptional({
    maxLength: 1000,
    description: 'Scopes separated by spaces; absent or empty: all that the application has.',
    example: 'inventory:read',
  })
  scope?: string;
}

export const TOKEN_REQUEST_EXAMPLES = {
  credentials: {
    summary: 'Credentials in the form',
    value: {
      grant_type: 'client_credentials',
      client_id: 'ci_3f9a1c5e7b2d4f608192a3b4c5d6e7f8',
      client_secret: 'cs_the-secret-of-the-application',
    } satisfies TokenRequestDto,
  },
  basic: {
    summary: 'Credentials by HTTP Basic, and a token that may only read',
    value: { grant_type: 'client_credentials', scope: 'inventory:read' } satisfies TokenRequestDto,
  },
};
