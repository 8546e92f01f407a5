import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { assetId } from '#libs/kernel';
import { DaysQueryDto, toHistoryEntryDto } from '#libs/platform/change-pages';
import { DayCounts } from '#libs/platform/changes';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { ApiProblems, ApiSuccess } from '#libs/platform/openapi';
import { PageQueryDto, Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { AssetsService } from '../../assets/application/assets.service';
import { ASSET_ID } from '../../assets/http/asset-query.dto';
import { toAssetDto } from '../../assets/http/asset.dto';
import { ASSET_HISTORY_EXAMPLES, AssetHistoryPageDto } from './asset-history.dto';
import { ASSET_SUMMARY_EXAMPLES, AssetSummaryDto, toAssetDayDto } from './asset-summary.dto';

@ApiTags('Inventory')
@Controller('v1/inventory')
export class HistoryController {
  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
    private readonly counts: DayCounts,
  ) {}

  @Get('assets/:id/history')
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
      results: found.items.map((state) => toHistoryEntryDto(state, 'asset', toAssetDto)),
      pageInfo: this.paging.pageInfo(response, workspaceId, resource, found, texts),
    };
  }

  @Get('summary')
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'getAssetSummary',
    summary: 'Count assets by day',
    description:
      'Needs `inventory:read` (or `all:read`). Returns counts of visible assets by category for each day of the history from `from` to `to`; today alone without both.',
  })
  @ApiSuccess(AssetSummaryDto, { description: 'The counts by day.', examples: ASSET_SUMMARY_EXAMPLES })
  @ApiProblems('validation_failed')
  async summary(
    @CurrentCaller() { workspaceId }: Caller,
    @Query() query: DaysQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetSummaryDto> {
    response.vary('Accept-Encoding');
    const days = await this.counts.days(workspaceId, 'assets', query);
    return { results: days.map(toAssetDayDto) };
  }
}
