import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { FeedPaging } from '#libs/platform/change-pages';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { ApiSuccess, ApiProblems } from '#libs/platform/openapi';
import type { Response } from 'express';
import { AssetRepository } from '../../assets/domain/asset-repository.port';
import {
  ASSET_CHANGE_PAGE_EXAMPLES,
  AssetChangePageDto,
  AssetChangeQueryDto,
  toAssetChangeDto,
} from './asset-change.dto';

const RESOURCE = 'asset-changes';

@ApiTags('Inventory')
@Controller('v1/inventory/changes')
export class ChangesController {
  constructor(
    private readonly assets: AssetRepository,
    private readonly paging: FeedPaging,
  ) {}

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listAssetChanges',
    summary: 'Follow changes of assets',
    description:
      'Needs `inventory:read` (or `all:read`). Returns the latest state of each changed asset, in the order of changes. Without ' +
      'a cursor every visible asset comes first. Store `resumeCursor` and send it as `pageCursor` next time.',
  })
  @ApiSuccess(AssetChangePageDto, {
    description: 'A page of changes.',
    examples: ASSET_CHANGE_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
    links: { getAsset: { id: '$response.body#/results/0/id' } },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'cursor_expired')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: AssetChangeQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetChangePageDto> {
    const { workspaceId } = caller;
    const { start, size, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    // A list that the client reads next must not be older than the cursor.
    if (start.kind === 'now') await caller.readNewest();
    const page = await this.assets.changes(caller, filters.categoryKey, start, size);
    return {
      results: page.changes.map(toAssetChangeDto),
      ...this.paging.envelope(response, workspaceId, RESOURCE, page, texts),
    };
  }
}
