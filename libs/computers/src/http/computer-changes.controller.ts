import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ChangeQueryDto, FeedPaging } from '#libs/platform/change-pages';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { ApiSuccess, ApiProblems } from '#libs/platform/openapi';
import type { Response } from 'express';
import { ComputerFeed } from '../domain/computer-feed.port';
import { ComputerChangePageDto, toComputerChangeDto } from './computer-change.dto';
import { COMPUTER_CHANGE_PAGE_EXAMPLES } from './computer-examples';

const RESOURCE = 'computer-changes';

@ApiTags('Computers')
@Controller('v1/computers/changes')
export class ComputerChangesController {
  constructor(
    private readonly feed: ComputerFeed,
    private readonly paging: FeedPaging,
  ) {}

  @Get()
  @RequireScope('computers:read')
  @ApiOperation({
    operationId: 'listComputerChanges',
    summary: 'Follow changes of computers',
    description:
      'Needs `computers:read` (or `all:read`). Returns the latest state of each changed computer, in the order of changes. Without ' +
      'a cursor every visible computer comes first. Store `resumeCursor` and send it as `pageCursor` next time.',
  })
  @ApiSuccess(ComputerChangePageDto, {
    description: 'A page of changes.',
    examples: COMPUTER_CHANGE_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'cursor_expired')
  async list(
    @CurrentCaller() { workspaceId, freshness, readNewest }: Caller,
    @Query() query: ChangeQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ComputerChangePageDto> {
    const { start, size, filters } = this.paging.request(workspaceId, RESOURCE, query);
    // A list that the client reads next must not be older than the cursor.
    if (start.kind === 'now') await readNewest();
    const page = await this.feed.read(workspaceId, start, size, freshness);
    return {
      results: page.changes.map(toComputerChangeDto),
      ...this.paging.envelope(response, workspaceId, RESOURCE, page, filters),
    };
  }
}
