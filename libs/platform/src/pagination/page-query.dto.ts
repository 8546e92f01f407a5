import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { MAX_CURSOR_LENGTH } from './page.dto';

/** Query of every list. Members are strings as sent; nothing is converted before validation. */
export class PageQueryDto {
  @ApiPropertyOptional({
    description: 'Items per page.',
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 25,
    example: 50,
  })
  @IsOptional()
  @Matches(/^([1-9][0-9]?|100)$/, { message: 'pageSize must be a whole number from 1 to 100' })
  pageSize?: string;

  @ApiPropertyOptional({
    description:
      'The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same.',
    type: 'string',
    minLength: 1,
    maxLength: MAX_CURSOR_LENGTH,
    example: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU',
  })
  @IsOptional()
  @IsString()
  pageCursor?: string;
}
