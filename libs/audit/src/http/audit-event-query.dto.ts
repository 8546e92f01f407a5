import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidationFailed, parseTimeBound, plusHint } from '#libs/kernel';
import { CURSOR, ExactId, ExactText, type ListFilters } from '#libs/platform/pagination';
import { IsOptional, Length } from 'class-validator';
import { ChangeQueryDto } from '#libs/platform/change-pages';
import type { EventFilter } from '../domain/event-filter';

/** Query of the list of audit events. Members are strings as sent. */
export class AuditEventQueryDto extends ChangeQueryDto {
  @ApiPropertyOptional({
    description: 'Events per page.',
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 100,
    example: 500,
  })
  declare pageSize?: string;

  @ApiPropertyOptional({
    description:
      'The `resumeCursor` or `endCursor` of any earlier page, exactly as it was returned. The cursor contains your ' +
      'filters; a filter that you send again must be the same.',
    ...CURSOR,
  })
  declare pageCursor?: string;

  @ApiPropertyOptional({
    description:
      '`now` gives a cursor and nothing old; a date-time (RFC 3339) gives events with `recordedAt` at or after it. Not ' +
      'together with `pageCursor`.',
    type: 'string',
    maxLength: 40,
    pattern: '^(now|[0-9]{4}-.*)$',
    example: '2026-11-01T00:00:00Z',
  })
  declare since?: string;

  @ApiPropertyOptional({
    description: 'A date-time (RFC 3339): only events with `recordedAt` before it.',
    type: 'string',
    maxLength: 40,
    pattern: '^[0-9]{4}-.*$',
    example: '2026-12-01T00:00:00Z',
  })
  @IsOptional()
  @Length(1, 40, { message: 'until must be a date-time' })
  until?: string;

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

  @ExactId({
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

/** @throws `validation_failed` for an `until` that is no date-time */
export function toEventFilter({ until, assetId, ...others }: ListFilters): EventFilter {
  const filter = assetId === undefined ? others : { ...others, assetId: assetId.toLowerCase() };
  if (until === undefined) return filter;
  const time = parseTimeBound(until);
  if (time) return { ...filter, until: time };
  const detail = `until must be a date-time such as 2026-01-02T03:04:05Z${plusHint(until)}.`;
  throw new ValidationFailed([{ parameter: 'until', code: 'format', detail }]);
}
