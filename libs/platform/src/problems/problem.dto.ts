import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ERROR_CODES } from '#libs/kernel';

export class InputFaultDto {
  @ApiPropertyOptional({ description: 'JSON pointer into the body (RFC 6901).' })
  pointer?: string;

  @ApiPropertyOptional({ description: 'Name of a query or path parameter.' })
  parameter?: string;

  @ApiPropertyOptional({ description: 'Name of a header.' })
  header?: string;

  @ApiProperty({ description: 'What is wrong with it, for programs.' })
  code!: string;

  @ApiProperty({ description: 'What is wrong with it, for people.' })
  detail!: string;
}

/** Error body (RFC 7807; specification, Errors). */
export class ProblemDto {
  @ApiProperty({ format: 'uri', description: 'Address of a page on this problem.' })
  type!: string;

  @ApiProperty({ description: 'HTTP status text.' })
  title!: string;

  @ApiProperty({ type: 'integer', description: 'HTTP status.' })
  status!: number;

  @ApiProperty({ enum: ERROR_CODES, description: 'Stable machine-readable code. New codes may be added.' })
  code!: string;

  @ApiProperty({ description: 'Human-readable explanation.' })
  detail!: string;

  @ApiProperty({ description: 'Path of the request.' })
  instance!: string;

  @ApiProperty({ description: 'Request identifier, also in the X-Request-Id header.' })
  requestId!: string;

  @ApiPropertyOptional({ type: [InputFaultDto], description: 'The inputs at fault.' })
  errors?: InputFaultDto[];
}
