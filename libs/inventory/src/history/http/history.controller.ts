import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { assetId } from '#libs/kernel';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { ApiProblems, ApiSuccess } from '#libs/platform/openapi';
import { PageQueryDto, Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { AssetsService } from '../../assets/application/assets.service';
import { ASSET_ID } from '../../assets/http/asset-query.dto';
import { ASSET_HISTORY_EXAMPLES, AssetHistoryPageDto, toAssetHistoryEntryDto } from './asset-history.dto';

@ApiTags('Inventory')
@Controller('v1/inventory/assets')
export class HistoryController {
  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
  ) {}

  @Get(':id/history')
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listAssetHistory',
    summary: 'List the states of one asset',
    description:
      'Needs `inventory:read` (or `all:read`). Returns the states of the asset, newest first, each with who made it. Works for hidden and deleted assets too.',
  })
  @ApiParam(ASSET_ID)
  @ApiSuccess(AssetHistoryPageDto, {
    description: 'A page of states.',
    examples: ASSET_HISTORY_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'not_found')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetHistoryPageDto> {
    const { workspaceId } = caller;
    // Each history has cursors of its own.
    const asset = assetId(id);
    const resource = `asset-states ${asset}`;
    const { page, texts } = this.paging.request(workspaceId, resource, query, response);
    const found = await this.assets.history(caller, asset, page);
    return {
      results: found.items.map(toAssetHistoryEntryDto),
      pageInfo: this.paging.pageInfo(response, workspaceId, resource, found, texts),
    };
  }
}
