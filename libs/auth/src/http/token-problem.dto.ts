import { ApiProperty } from '@nestjs/swagger';
import { ApiObject, ProblemDto, openEnum } from '#libs/platform/openapi';

/** A problem that OAuth clients understand, too (RFC 6749, 5.2). */
@ApiObject({
  name: 'TokenProblem',
  description: 'A problem with the members of RFC 6749 beside its own, so that stock OAuth clients can read it.',
})
export class TokenProblemDto extends ProblemDto {
  @ApiProperty(
    openEnum(
      [
        ...['invalid_request', 'invalid_client', 'invalid_scope', 'unsupported_grant_type', 'invalid_target'],
        ...['temporarily_unavailable', 'server_error'],
      ],
      'Code of RFC 6749, or of RFC 8707.',
    ),
  )
  error!: string;

  @ApiProperty({ maxLength: 1000, description: 'The same as `detail`.', example: 'client_secret is required.' })
  error_description!: string;
}
