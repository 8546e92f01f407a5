import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblems, ApiSuccess } from '#libs/platform/openapi';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { PageQueryDto, Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { ImportRuns } from '../domain/import-runs.port';
import { SOURCE_PAGE_EXAMPLES, SourcePageDto, toSourceDto } from './source.dto';

const RESOURCE = 'sources';

@ApiTags('Inventory')
@Controller('v1/inventory/sources')
export class SourcesController {
  constructor(
    private readonly runs: ImportRuns,
    private readonly paging: Paging,
  ) {}

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listSources',
    summary: 'List sources and their freshness',
    description:
      'Needs `inventory:read` (or `all:read`). Returns the import sources of the workspace, ordered by the code points ' +
      'of the name: each source with an asset, hidden ones included, or a recorded import. `lastImport` is the latest ' +
      'import, however it ended.',
  })
  @ApiSuccess(SourcePageDto, {
    description: 'A page of sources.',
    examples: SOURCE_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SourcePageDto> {
    const { workspaceId } = caller;
    const { page, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const found = await this.runs.sources(caller, page);
    return {
      results: found.items.map(toSourceDto),
      pageInfo: this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts),
    };
  }
}
