import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** The form of a token request, for the contract; `token-request.ts` reads it. */
export class TokenRequestDto {
  @ApiProperty({ enum: ['client_credentials'] })
  grant_type!: string;

  @ApiPropertyOptional({ description: 'Required unless HTTP Basic is used.' })
  client_id?: string;

  @ApiPropertyOptional({ description: 'Required unless HTTP Basic is used.', format: 'password' })
  client_secret?: string;

  @ApiPropertyOptional({ description: 'The audience of this API; any other gives `unsupported_audience`.' })
  audience?: string;

  @ApiPropertyOptional({ description: 'Scopes separated by spaces; absent or empty: all that the application has.' })
  scope?: string;
}
