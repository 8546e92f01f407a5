import type { Expand } from '#libs/kernel';
import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { PastInstant } from '../input/instant.decorator';
import { OpaqueText } from '../input/text.decorator';
import { type Member, check, fromText, member } from '../input/member';
import { ApiObject, constant } from '../openapi/api-schema.decorator';

export const DEFAULT_PAGE_SIZE = 25;

/** A cursor in the contract. Cursors are never longer: see `Cursors.issue`. */
export const CURSOR = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  example: 'AUM1cGt3VGhlIGN1cnNvciBpcyBvcGFxdWU',
} as const;

/** A cursor as a parameter. Whoever opens it refuses one that was not issued. */
export const PageCursor = (description: string): PropertyDecorator => OpaqueText({ ...CURSOR, description });

interface PageSizeOptions extends Member {
  readonly maximum: number;
  readonly default: number;
}

/** The size of a page: a whole number from 1 to `maximum`, without sign or leading zero. */
export const PageSize = ({ maximum, ...options }: PageSizeOptions): PropertyDecorator =>
  member(
    { type: 'integer', minimum: 1, maximum, ...options },
    fromText((text) => (/^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : text)),
    check({
      code: 'format',
      isValid: (value) => typeof value === 'number' && value <= maximum,
      message: `must be a whole number from 1 to ${maximum}`,
    }),
  );

/** Query of every list. Its other members are filters. */
export class PageQueryDto {
  @PageSize({ maximum: 100, default: DEFAULT_PAGE_SIZE, description: 'Items per page.', example: 50 })
  pageSize?: number;

  @PageCursor(
    'The `pageInfo.endCursor` of the previous page, unchanged. Leave it out for the first page. The cursor contains your filters; a filter that you send again must be the same.',
  )
  pageCursor?: string;
}

const EXPAND = {
  ...constant('owner'),
  description: '`owner` adds the owner with name and e-mail address to each item. It is not in the cursor.',
};

/** Adds `expand` to the query of a route whose items can show their owner. */
const Expand = (): PropertyDecorator =>
  member(EXPAND, check({ code: 'choice', isValid: (value) => value === 'owner', message: 'must be owner' }));

const INSTANT = 'A date-time (RFC 3339), cut to the millisecond, not before the history begins and not after now.';

/** Query of one item that can show its owner, and its past. */
export class FindQueryDto {
  @Expand()
  expand?: Expand;

  @PastInstant({
    example: '2026-11-01T00:00:00.000Z',
    description: `Shows what a read at this instant showed; 404 where it showed nothing. ${INSTANT}`,
  })
  asOf?: Date;
}

/** Query of a list whose items can show their owner, and that streams as it was. */
export class StreamedPageQueryDto extends PageQueryDto {
  @Expand()
  expand?: Expand;

  @PastInstant({
    example: '2026-11-01T00:00:00.000Z',
    description: `Of a stream alone: the list as it was at this instant. Of the filters only \`categoryKey\` goes with it, where the list has it. ${INSTANT}`,
  })
  asOf?: Date;
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
