import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { DaysQueryDto } from '#libs/platform/change-pages';
import { DayCounts, dayCountsOf } from '#libs/platform/changes';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { ApiProblems, ApiSuccess } from '#libs/platform/openapi';
import type { Response } from 'express';
import { ASSET_SUMMARY_EXAMPLES, AssetSummaryDto, toAssetDayDto } from './asset-summary.dto';

export const ASSET_DAYS = dayCountsOf({ stored: 'asset_day', countsAt: 'asset_counts_at' });

@ApiTags('Inventory')
@Controller('v1/inventory/summary')
export class SummaryController {
  constructor(private readonly counts: DayCounts) {}

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'getAssetSummary',
    summary: 'Count assets by day',
    description:
      'Needs `inventory:read` (or `all:read`). Returns counts of visible assets by category for each day of the history from `from` to `to`; today alone without both.',
  })
  @ApiSuccess(AssetSummaryDto, { description: 'The counts by day.', examples: ASSET_SUMMARY_EXAMPLES })
  @ApiProblems('validation_failed')
  async get(
    @CurrentCaller() { workspaceId }: Caller,
    @Query() query: DaysQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetSummaryDto> {
    response.vary('Accept-Encoding');
    const days = await this.counts.days(workspaceId, ASSET_DAYS, query);
    return { results: days.map(toAssetDayDto) };
  }
}
