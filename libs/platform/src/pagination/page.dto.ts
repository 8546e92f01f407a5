import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { PageInfoDto } from './page-info.dto';

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
