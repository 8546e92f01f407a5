import type { Type } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { ApiObject } from '../openapi/api-schema.decorator';

/** A cursor in the contract. Cursors are never longer: see `Cursors.issue`. */
export const CURSOR = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  example: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU',
} as const;

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
    ...CURSOR,
  })
  @IsOptional()
  @IsString()
  pageCursor?: string;
}

@ApiObject({ name: 'PageInfo', description: 'The place of the page in the list.' })
export class PageInfoDto {
  @ApiProperty({ description: 'True when more results follow.', example: true })
  hasNextPage!: boolean;

  @ApiProperty({
    ...CURSOR,
    nullable: true,
    description: 'The cursor of the next page: send it as `pageCursor`. Null when `hasNextPage` is false.',
  })
  endCursor!: string | null;

  @ApiProperty({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Exact number of matches on all pages.',
    example: 128,
  })
  totalCount!: number;
}

interface PageDto<Item> {
  results: Item[];
  pageInfo: PageInfoDto;
}

/** Makes the base class of a page. Its subclass names the schema of the contract. */
export function pageOf<Item>(item: Type<Item>, description: string): Type<PageDto<Item>> {
  class Page implements PageDto<Item> {
    @ApiProperty({ type: [item], maxItems: 100, description })
    results!: Item[];

    @ApiProperty({ type: PageInfoDto, description: 'The place of the page in the list.' })
    pageInfo!: PageInfoDto;
  }
  return Page;
}
