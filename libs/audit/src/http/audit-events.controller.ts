import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Clock } from '#libs/kernel';
import { RequireScope } from '#libs/platform/access';
import { FeedPaging } from '#libs/platform/change-pages';
import { type Caller, CurrentCaller } from '#libs/platform/http';
import { ApiProblems, ApiSuccess } from '#libs/platform/openapi';
import type { Response } from 'express';
import { AuditLog } from '../domain/audit-log.port';
import { AUDIT_EVENT_PAGE_EXAMPLES } from './audit-event-examples';
import { AuditEventQueryDto, toEventFilter } from './audit-event-query.dto';
import { AuditEventPageDto, toAuditEventDto } from './audit-event.dto';

const RESOURCE = 'audit-events';

@ApiTags('Audit')
@Controller('v1/audit-events')
export class AuditEventsController {
  constructor(
    private readonly log: AuditLog,
    private readonly paging: FeedPaging,
    private readonly clock: Clock,
  ) {}

  @Get()
  @RequireScope('audit:read')
  @ApiOperation({
    operationId: 'listAuditEvents',
    summary: 'List audit events',
    description:
      'Needs `audit:read` (or `all:read`). The events of the workspace in the order of their `sequence`, complete and a few ' +
      'seconds late. Keep `resumeCursor`, and ask again with it.',
  })
  @ApiSuccess(AuditEventPageDto, {
    description: 'A page of audit events.',
    examples: AUDIT_EVENT_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'cursor_expired')
  async list(
    @CurrentCaller() { workspaceId }: Caller,
    @Query() query: AuditEventQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuditEventPageDto> {
    const { start, size, filters } = this.paging.request(workspaceId, RESOURCE, query);
    const oldestWaiting = await this.log.oldestWaiting(workspaceId);
    const page = await this.log.read(workspaceId, toEventFilter(filters), start, size);
    return {
      results: page.changes.map(toAuditEventDto),
      ...this.paging.envelope(response, workspaceId, RESOURCE, page, filters),
      lagSeconds: oldestWaiting ? Math.max(1, Math.ceil((this.clock.now() - oldestWaiting.getTime()) / 1_000)) : 0,
    };
  }
}
