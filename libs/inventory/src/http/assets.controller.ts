import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '#libs/auth';
import { assetId } from '#libs/kernel';
import {
  ApiBearer,
  ApiProblems,
  BEARER_PROBLEMS,
  type Caller,
  CurrentCaller,
  NoQueryDto,
  Paging,
} from '#libs/platform';
import { AssetsService } from '../application/assets.service';
import { AssetDto, AssetPageDto, toAssetDto } from './asset.dto';
import { AssetQueryDto, toAssetFilter } from './asset-query.dto';

const RESOURCE = 'assets';

@ApiTags('Inventory')
@ApiBearer()
@Controller('v1/inventory/assets')
export class AssetsController {
  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
  ) {}

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listAssets',
    summary: 'List assets',
    description:
      'Needs `inventory:read` (or `all:read`). HIDDEN and deleted assets are excluded. Filters combine with AND.',
  })
  @ApiOkResponse({ type: AssetPageDto })
  @ApiProblems('validation_failed', 'invalid_cursor', ...BEARER_PROBLEMS)
  async list(@CurrentCaller() { workspaceId }: Caller, @Query() query: AssetQueryDto): Promise<AssetPageDto> {
    const { page, filters } = this.paging.request(workspaceId, RESOURCE, query);
    const found = await this.assets.list(workspaceId, toAssetFilter(filters), page);
    return {
      results: found.items.map(toAssetDto),
      pageInfo: this.paging.pageInfo(workspaceId, RESOURCE, found, filters),
    };
  }

  @Get(':id')
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'getAsset',
    summary: 'Get one asset',
    description: 'Needs `inventory:read` (or `all:read`).',
  })
  @ApiParam({ name: 'id', format: 'uuid', description: 'Public asset id.' })
  @ApiOkResponse({ type: AssetDto })
  @ApiProblems('validation_failed', 'not_found', ...BEARER_PROBLEMS)
  async get(
    @CurrentCaller() { workspaceId }: Caller,
    @Param('id') id: string,
    @Query() _query: NoQueryDto,
  ): Promise<AssetDto> {
    return toAssetDto(await this.assets.get(workspaceId, assetId(id)));
  }
}
