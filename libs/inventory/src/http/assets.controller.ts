import { Controller, Get, Param, Patch, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '#libs/auth';
import { assetId } from '#libs/kernel';
import {
  ApiBearer,
  ApiProblems,
  ApiWrite,
  BEARER_PROBLEMS,
  type Caller,
  CurrentCaller,
  CurrentWrite,
  type CurrentWriteRequest,
  NoQueryDto,
  Paging,
  WRITE_PROBLEMS,
  entityTagOf,
  ifMatch,
  refuseIfMatch,
} from '#libs/platform';
import type { Request, Response } from 'express';
import { AssetsService } from '../application/assets.service';
import { AssetDto, AssetPageDto, toAssetDto } from './asset.dto';
import { readAssetPatch, readBulkUpdate, toBulkUpdateSummaryDto } from './asset-patch-body';
import { AssetMetadataPatchDto, BulkUpdateDto, BulkUpdateSummaryDto } from './asset-patch.dto';
import { AssetQueryDto, toAssetFilter } from './asset-query.dto';

const RESOURCE = 'assets';
const ENTITY_TAG = {
  ETag: { description: 'Strong entity tag of this version of the asset.', schema: { type: 'string' } },
} as const;

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
  @ApiOkResponse({ type: AssetDto, headers: ENTITY_TAG })
  @ApiProblems('validation_failed', 'not_found', ...BEARER_PROBLEMS)
  async get(
    @CurrentCaller() { workspaceId }: Caller,
    @Param('id') id: string,
    @Query() _query: NoQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetDto> {
    const asset = await this.assets.get(workspaceId, assetId(id));
    response.setHeader('ETag', entityTagOf(asset.version));
    return toAssetDto(asset);
  }

  @Patch(':id')
  @RequireScope('inventory:write')
  @ApiOperation({
    operationId: 'updateAsset',
    summary: 'Update the governance metadata of one asset',
    description:
      'Needs `inventory:write` (or `all:write`). Only owner, description, classification and customer tags can be written; ' +
      'employees cannot. An owner set here reads `ownerSource: API`, and no import overwrites what was set here.',
  })
  @ApiParam({ name: 'id', format: 'uuid', description: 'Public asset id.' })
  @ApiHeader({
    name: 'If-Match',
    required: false,
    description: 'Update only if the asset still has this entity tag; otherwise 412.',
    schema: { type: 'string', example: '"7"' },
  })
  @ApiWrite(AssetMetadataPatchDto)
  @ApiOkResponse({ type: AssetDto, description: 'The updated asset.', headers: ENTITY_TAG })
  @ApiProblems(
    'validation_failed',
    'not_found',
    'resource_not_writable',
    'precondition_failed',
    ...WRITE_PROBLEMS,
    ...BEARER_PROBLEMS,
  )
  async update(
    @CurrentWrite() { workspaceId, author, body }: CurrentWriteRequest,
    @Param('id') id: string,
    @Query() _query: NoQueryDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetDto> {
    const patch = readAssetPatch(body);
    const asset = await this.assets.update(workspaceId, assetId(id), patch, ifMatch(request), author);
    response.setHeader('ETag', entityTagOf(asset.version));
    return toAssetDto(asset);
  }

  @Patch()
  @RequireScope('inventory:write')
  @ApiOperation({
    operationId: 'updateAssets',
    summary: 'Update the governance metadata of up to 100 assets',
    description:
      'Needs `inventory:write` (or `all:write`). The patch is applied to every id in one transaction. Ids without a visible ' +
      'asset are counted as failed; one employee among them, and nothing is applied. Tags cannot be updated in bulk.',
  })
  @ApiWrite(BulkUpdateDto)
  @ApiOkResponse({ type: BulkUpdateSummaryDto })
  @ApiProblems('validation_failed', 'resource_not_writable', ...WRITE_PROBLEMS, ...BEARER_PROBLEMS)
  async updateMany(
    @CurrentWrite() { workspaceId, author, body }: CurrentWriteRequest,
    @Query() _query: NoQueryDto,
    @Req() request: Request,
  ): Promise<BulkUpdateSummaryDto> {
    refuseIfMatch(request);
    return toBulkUpdateSummaryDto(await this.assets.updateMany(workspaceId, readBulkUpdate(body), author));
  }
}
