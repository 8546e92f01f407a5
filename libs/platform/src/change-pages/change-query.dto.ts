import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { CURSOR } from '../pagination/page.dto';

/** Query of every change feed. Members are strings as sent. */
export class ChangeQueryDto {
  @ApiPropertyOptional({
    description: 'Changes per page.',
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 100,
    example: 500,
  })
  @IsOptional()
  @Matches(/^([1-9][0-9]{0,2}|1000)$/, { message: 'pageSize must be a whole number from 1 to 1000' })
  pageSize?: string;

  @ApiPropertyOptional({
    description:
      'The `resumeCursor` or `endCursor` of any earlier page of this feed, unchanged. ' +
      'Without it the feed begins with every visible item.',
    ...CURSOR,
  })
  @IsOptional()
  @IsString()
  pageCursor?: string;

  @ApiPropertyOptional({
    description:
      '`now` returns a cursor and no changes. A date-time (RFC 3339) returns changes with `changedAt` at or after it. ' +
      'Leave it out with `pageCursor`.',
    type: 'string',
    maxLength: 40,
    pattern: '^(now|[0-9]{4}-.*)$',
    example: '2026-11-01T00:00:00Z',
  })
  @IsOptional()
  @IsString()
  since?: string;
}
