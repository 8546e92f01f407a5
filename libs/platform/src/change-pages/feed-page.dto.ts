import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ApiObject } from '../openapi/api-schema.decorator';
import { CURSOR } from '../pagination/page.dto';

@ApiObject({ name: 'FeedPageInfo', description: 'Whether more changes follow this page.' })
export class FeedPageInfoDto {
  @ApiProperty({
    description: 'True when more changes follow now. The page may be short or empty all the same.',
    example: false,
  })
  hasNextPage!: boolean;

  @ApiProperty({
    ...CURSOR,
    nullable: true,
    description: 'Cursor of the next page, for `pageCursor`; null when `hasNextPage` is false.',
    example: null,
  })
  endCursor!: string | null;
}

interface FeedPageDto<Item> {
  results: Item[];
  pageInfo: FeedPageInfoDto;
  resumeCursor: string;
}

/** Makes the base class of a feed's page. Its subclass names the schema of the contract. */
export function feedPageOf<Item>(
  item: Type<Item>,
  describe: { readonly results: string; readonly pageInfo: string },
): Type<FeedPageDto<Item>> {
  class FeedPage implements FeedPageDto<Item> {
    @ApiProperty({ type: [item], maxItems: 1000, description: describe.results })
    results!: Item[];

    @ApiProperty({ type: FeedPageInfoDto, description: describe.pageInfo })
    pageInfo!: FeedPageInfoDto;

    @ApiProperty({
      ...CURSOR,
      description: 'Cursor to go on from, now or later, as `pageCursor`. Always present; it does not expire.',
    })
    resumeCursor!: string;
  }
  return FeedPage;
}

/** Makes the base class of a page of changes. */
export const changePageOf = <Item>(item: Type<Item>): Type<FeedPageDto<Item>> =>
  feedPageOf(item, {
    results: 'Changes in the order of their commits.',
    pageInfo: 'Whether more changes follow.',
  });
