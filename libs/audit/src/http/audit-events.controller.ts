import { Controller, Get, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Clock } from '#libs/kernel';
import { FeedPaging, feedStartOf, refuseSinceBesideCursor } from '#libs/platform/change-pages';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { ApiProblems, ApiSuccess } from '#libs/platform/openapi';
import {
  type StreamedList,
  type StreamedQuery,
  Streams,
  STREAM_DESCRIPTION,
  asksForStream,
  streamOf,
} from '#libs/platform/streams';
import type { Response } from 'express';
import { PublishedEvents, type HashedEvent } from '../domain/published-events.port';
import { AUDIT_EVENT, AUDIT_EVENT_PAGE_EXAMPLES } from './audit-event-examples';
import { AuditEventQueryDto } from './audit-event-query.dto';
import { AuditEventLineDto, AuditEventPageDto } from './audit-event.dto';

const RESOURCE = 'audit-events';

@ApiTags('Audit')
@Controller('v1/audit-events')
export class AuditEventsController {
  private readonly streamed: StreamedList<HashedEvent, StreamedQuery<AuditEventQueryDto>>;

  constructor(
    private readonly published: PublishedEvents,
    private readonly paging: FeedPaging,
    private readonly clock: Clock,
    private readonly streams: Streams,
  ) {
    this.streamed = {
      resource: RESOURCE,
      item: 'event',
      feed: null,
      reader: async (workspaceId, { since, ...filter }) => {
        const beginning = feedStartOf(since);
        return async ({ size, after, mostBytes }) => {
          const start = after === null ? beginning : ({ kind: 'position', position: after } as const);
          const { changes, position, hasMore } = await published.read(workspaceId, filter, start, size, mostBytes);
          return { items: changes, lastPosition: position, endPosition: hasMore ? position : null, totalCount: 0 };
        };
      },
      show: (event) => event,
    };
  }

  @Get()
  @RequireScope('audit:read')
  @ApiOperation({
    operationId: 'listAuditEvents',
    summary: 'List audit events',
    description:
      'Needs `audit:read` (or `all:read`). The events of the workspace in the order of their `sequence`, complete and a few ' +
      'seconds late. Keep `resumeCursor`, and ask again with it. ' +
      STREAM_DESCRIPTION,
  })
  @ApiSuccess(AuditEventPageDto, {
    description: 'A page of audit events.',
    examples: AUDIT_EVENT_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
    stream: streamOf(AuditEventLineDto, { type: 'event', event: AUDIT_EVENT }, { hasStart: false }),
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'cursor_expired', 'export_in_progress')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: AuditEventQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditEventPageDto | StreamableFile> {
    if (asksForStream(response)) {
      refuseSinceBesideCursor(query);
      return this.streams.begin(caller, query, response, this.streamed);
    }
    const { workspaceId } = caller;
    const { start, size, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const page = await this.published.read(workspaceId, filters, start, size);
    const { oldestWaiting } = page;
    return {
      results: [...page.changes],
      ...this.paging.envelope(response, workspaceId, RESOURCE, page, texts),
      lagSeconds: oldestWaiting ? Math.max(1, Math.ceil((this.clock.now() - oldestWaiting.getTime()) / 1_000)) : 0,
    };
  }
}
