import { Since } from '../input/instant.decorator';
import { PageCursor, PageSize } from '../pagination/page.dto';

export const DEFAULT_FEED_PAGE_SIZE = 100;

/** Query of every change feed. Its other members are filters. */
export class ChangeQueryDto {
  @PageSize({ maximum: 1000, default: DEFAULT_FEED_PAGE_SIZE, description: 'Changes per page.', example: 500 })
  pageSize?: number;

  @PageCursor(
    'The `resumeCursor` or `endCursor` of any earlier page of this feed, unchanged. ' +
      'Without it the feed begins with every visible item.',
  )
  pageCursor?: string;

  @Since({
    description:
      '`now` returns a cursor and no changes. A date-time (RFC 3339) returns changes with `changedAt` at or after it. ' +
      'Leave it out with `pageCursor`.',
    example: '2026-11-01T00:00:00Z',
  })
  since?: 'now' | Date;
}
