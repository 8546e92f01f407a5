import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ERROR_CODES } from '#libs/kernel';
import { ApiObject, openEnum } from './api-schema.decorator';

/** Limits of the list of faults and of the texts in it. */
const MOST_FAULTS = 100;
const FAULT_CODES = [
  'required',
  'unknown',
  'duplicated',
  'format',
  'length',
  'range',
  'choice',
  'readonly',
  'ambiguous',
  'diverged',
  'purged',
  'archived',
];

@ApiObject({
  name: 'InputFault',
  description: 'One input that is wrong, named by exactly one of `pointer`, `parameter` and `header`.',
})
export class InputFaultDto {
  @ApiPropertyOptional({ maxLength: 201, description: 'JSON pointer into the body (RFC 6901).', example: '/ownerId' })
  pointer?: string;

  // An unknown parameter's name is returned as sent, so a request line limits its length.
  @ApiPropertyOptional({ maxLength: 16_384, description: 'Name of a query or path parameter.', example: 'pageSize' })
  parameter?: string;

  @ApiPropertyOptional({ maxLength: 64, description: 'Name of a header.', example: 'Idempotency-Key' })
  header?: string;

  @ApiProperty(openEnum(FAULT_CODES, 'The reason, for programs.'))
  code!: string;

  @ApiProperty({ maxLength: 1000, description: 'The reason, for people.', example: 'pageSize is required.' })
  detail!: string;
}

/** Error body (RFC 7807; specification, Errors). */
@ApiObject({ name: 'Problem', description: 'Every error (RFC 7807). Let your program decide by `code`.' })
export class ProblemDto {
  @ApiProperty({
    format: 'uri',
    maxLength: 2048,
    description: 'Address of a page on this problem: cause, remedy and an example, as HTML or JSON.',
    example: 'https://api.example.com/problems/not_found',
  })
  type!: string;

  @ApiProperty({ maxLength: 64, description: 'HTTP status text.', example: 'Not Found' })
  title!: string;

  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status.', example: 404 })
  status!: number;

  @ApiProperty(openEnum(ERROR_CODES, 'The reason, for programs; a code never changes its meaning.'))
  code!: string;

  @ApiProperty({ maxLength: 1000, description: 'The reason, for people.', example: 'No asset has this id.' })
  detail!: string;

  @ApiProperty({
    maxLength: 16_384,
    description: 'Path of the request, without its query.',
    example: '/v1/inventory/assets',
  })
  instance!: string;

  @ApiProperty({
    pattern: '^[A-Za-z0-9._-]{1,64}$',
    description: 'Request identifier, also in the `X-Request-Id` header.',
    example: '0b8e3f7e-6c0c-4d0c-9a3c-2f5d4a7a1f10',
  })
  requestId!: string;

  @ApiPropertyOptional({
    type: [InputFaultDto],
    minItems: 1,
    maxItems: MOST_FAULTS,
    description:
      'Up to 20 inputs that are wrong, or up to 100 employees of a bulk update; absent when no particular input is.',
  })
  errors?: InputFaultDto[];
}
