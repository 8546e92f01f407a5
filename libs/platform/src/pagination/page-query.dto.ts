import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';

/** Query of every list. Members are strings as sent: nothing is converted before it was checked. */
export class PageQueryDto {
  @ApiPropertyOptional({
    description: 'Items per page.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 25,
  })
  @IsOptional()
  @Matches(/^([1-9][0-9]?|100)$/, { message: 'pageSize must be a whole number from 1 to 100' })
  pageSize?: string;

  @ApiPropertyOptional({
    description:
      'Opaque cursor: `pageInfo.endCursor` of the page before, exactly as it was returned. Filters left out are those of the cursor; a filter sent must equal it.',
    type: 'string',
  })
  @IsOptional()
  @IsString()
  pageCursor?: string;
}
