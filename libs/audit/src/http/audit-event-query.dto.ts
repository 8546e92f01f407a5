import { ChangeQueryDto } from '#libs/platform/change-pages';
import { ExactText, Instant, Since, Uuid } from '#libs/platform/input';
import { PageCursor, PageSize } from '#libs/platform/pagination';
import type { EventFilter } from '../domain/event-filter';

/** Query of the list of audit events. */
export class AuditEventQueryDto extends ChangeQueryDto implements EventFilter {
  @PageSize({ maximum: 1000, default: 100, description: 'Events per page.', example: 500 })
  declare pageSize?: number;

  @PageCursor(
    'The `resumeCursor` or `endCursor` of any earlier page, exactly as it was returned. The cursor contains your ' +
      'filters; a filter that you send again must be the same.',
  )
  declare pageCursor?: string;

  @Since({
    description:
      '`now` gives a cursor and nothing old; a date-time (RFC 3339) gives events with `recordedAt` at or after it. Not ' +
      'together with `pageCursor`.',
    example: '2026-11-01T00:00:00Z',
  })
  declare since?: 'now' | Date;

  @Instant({
    description: 'A date-time (RFC 3339): only events with `recordedAt` before it.',
    pattern: '^[0-9]{4}-.*$',
    example: '2026-12-01T00:00:00Z',
  })
  until?: Date;

  @ExactText({
    maxLength: 64,
    description: 'Exact action. One that does not exist gives an empty list.',
    example: 'asset.updated',
  })
  action?: string;

  @ExactText({
    maxLength: 200,
    description: 'Client id of the application that acted.',
    example: 'ci_5f0c2e7d2a7c419a',
  })
  clientId?: string;

  @Uuid({
    description: 'Id of the asset that was changed.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
  })
  assetId?: string;

  @ExactText({
    maxLength: 64,
    description: '`X-Request-Id` of the request that made the change.',
    example: '6b1f2c1e-0a54-4f6e-9a9b-6a1c7a3c2f10',
  })
  requestId?: string;
}
