import { Body, Controller, Get, Param, Patch, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { assetId } from '#libs/kernel';
import { ApiSuccess, ApiProblems, ApiWrite, WRITE_PROBLEMS } from '#libs/platform/openapi';
import {
  type Caller,
  CurrentCaller,
  CurrentWrite,
  type CurrentWriteRequest,
  RequireScope,
  entityTagOf,
  ifMatch,
  refuseIfMatch,
} from '#libs/platform/http';
import { NoQueryDto } from '#libs/platform/input';
import { Idempotent } from '#libs/platform/idempotency';
import { FindQueryDto, Paging } from '#libs/platform/pagination';
import {
  type StreamedList,
  type StreamedQuery,
  Streams,
  STREAM_DESCRIPTION,
  asksForStream,
  refuseInstantOfPage,
  streamOf,
} from '#libs/platform/streams';
import type { Request, Response } from 'express';
import { AssetsService } from '../application/assets.service';
import type { Asset } from '../domain/asset';
import { AssetDto, AssetLineDto, AssetPageDto, toAssetDto } from './asset.dto';
import {
  ASSET_EXAMPLES,
  ASSET_MERGE_PATCH_EXAMPLES,
  ASSET_PAGE_EXAMPLES,
  ASSET_PATCH_EXAMPLES,
  BULK_MERGE_PATCH_EXAMPLES,
  BULK_SUMMARY_EXAMPLES,
  BULK_UPDATE_EXAMPLES,
} from './asset-examples';
import { toAssetPatch, toBulkUpdate, toBulkUpdateSummaryDto } from './asset-patch-body';
import { AssetMetadataMergePatchDto, AssetMetadataPatchDto } from './asset-patch.dto';
import { BulkUpdateDto, BulkUpdateMergePatchDto, BulkUpdateSummaryDto } from './bulk-update.dto';
import { ASSET_ID, AssetQueryDto } from './asset-query.dto';

const RESOURCE = 'assets';
/** `*`, or entity tags separated by commas (RFC 9110, 13.1.1). */
const ENTITY_TAGS = '^(\\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$';

@ApiTags('Inventory')
@Controller('v1/inventory/assets')
export class AssetsController {
  private readonly streamed: StreamedList<Asset, StreamedQuery<AssetQueryDto>>;

  constructor(
    private readonly assets: AssetsService,
    private readonly paging: Paging,
    private readonly streams: Streams,
  ) {
    this.streamed = {
      resource: RESOURCE,
      item: 'asset',
      feed: { resource: 'asset-changes', filters: ['categoryKey'] },
      reader: async (workspaceId, filter, request) => assets.reader(workspaceId, filter, request),
      show: toAssetDto,
    };
  }

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listAssets',
    summary: 'List assets',
    description:
      'Needs `inventory:read` (or `all:read`). Returns the assets that match all filters. Hidden and deleted assets are left out. ' +
      STREAM_DESCRIPTION,
  })
  @ApiSuccess(AssetPageDto, {
    description: 'A page of assets.',
    examples: ASSET_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
    stream: streamOf(AssetLineDto, { type: 'asset', asset: ASSET_EXAMPLES.cloud.value }),
    links: { getAsset: { id: '$response.body#/results/0/id' } },
  })
  @ApiProblems('validation_failed', 'invalid_cursor', 'export_in_progress')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: AssetQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetPageDto | StreamableFile> {
    if (asksForStream(response)) return this.streams.begin(caller, query, response, this.streamed);
    refuseInstantOfPage(query);
    const { workspaceId } = caller;
    const { page, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const found = await this.assets.list(caller, filters, page, query.expand);
    return {
      results: found.items.map(toAssetDto),
      pageInfo: this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts),
    };
  }

  @Get(':id')
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'getAsset',
    summary: 'Get one asset',
    description:
      'Needs `inventory:read` (or `all:read`). The `ETag` header names the version of the asset. Send it as `If-Match` in an update. With `expand` or `asOf` there is no `ETag`.',
  })
  @ApiParam(ASSET_ID)
  @ApiSuccess(AssetDto, {
    description: 'The asset.',
    examples: ASSET_EXAMPLES,
    headers: { ETag: 'sometimes' },
    links: {
      updateAsset: { id: '$response.body#/id', 'If-Match': '$response.header.ETag' },
      listAssetHistory: { id: '$response.body#/id' },
    },
  })
  @ApiProblems('validation_failed', 'not_found')
  async get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: FindQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetDto> {
    const asset = await this.assets.get(caller, assetId(id), query);
    if (!query.expand && !query.asOf) response.setHeader('ETag', entityTagOf(asset.version));
    return toAssetDto(asset);
  }

  @Patch(':id')
  @RequireScope('inventory:write')
  @ApiOperation({
    operationId: 'updateAsset',
    summary: 'Update the governance metadata of one asset',
    description:
      'Needs `inventory:write` (or `all:write`). Changes the owner, description, classification and customer tags of an asset that is not an employee. An owner set here reads `ownerSource: API`. No import overwrites what you set here.',
  })
  @ApiParam(ASSET_ID)
  @ApiHeader({
    name: 'If-Match',
    required: false,
    description:
      'Update only if the asset still has this `ETag`, otherwise `412`. Several tags are separated by commas; `*` matches any. A replay ignores it.',
    schema: { type: 'string', minLength: 1, maxLength: 1024, pattern: ENTITY_TAGS, example: '"7"' },
  })
  @Idempotent()
  @ApiWrite({
    exampleKey: 'd0f4a2c8-5b1e-4f7a-9c36-2e8b7a1d9f03',
    json: { type: AssetMetadataPatchDto, examples: ASSET_PATCH_EXAMPLES },
    mergePatch: { type: AssetMetadataMergePatchDto, examples: ASSET_MERGE_PATCH_EXAMPLES },
  })
  @ApiSuccess(AssetDto, {
    description: 'The updated asset.',
    examples: { cloud: ASSET_EXAMPLES.cloud },
    headers: { ETag: 'always', 'Idempotent-Replayed': 'sometimes' },
    links: {
      getAsset: { id: '$response.body#/id' },
      listAssetChanges: {},
      listAssetHistory: { id: '$response.body#/id' },
    },
  })
  @ApiProblems('validation_failed', 'not_found', 'resource_not_writable', 'precondition_failed', ...WRITE_PROBLEMS)
  async update(
    @CurrentWrite() { workspaceId, author, mediaType }: CurrentWriteRequest,
    @Param('id') id: string,
    @Body() body: AssetMetadataPatchDto,
    @Query() _query: NoQueryDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AssetDto> {
    const patch = toAssetPatch(body, mediaType);
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
      'Needs `inventory:write` (or `all:write`). Applies one patch to every id (`ids` and `patch`, without tags), or a patch to each (`updates`), in one transaction. Ids without a visible asset are counted as failed, and so are assets that do not match `onlyIf`. If one id is an employee, nothing is applied. `If-Match` is refused.',
  })
  @Idempotent()
  @ApiWrite({
    exampleKey: '7c1e9b52-04d8-4a6b-b3f1-95d2c60e8a47',
    json: { type: BulkUpdateDto, examples: BULK_UPDATE_EXAMPLES },
    mergePatch: { type: BulkUpdateMergePatchDto, examples: BULK_MERGE_PATCH_EXAMPLES },
  })
  @ApiSuccess(BulkUpdateSummaryDto, {
    description: 'How many assets were updated, and which were not. The assets are not returned.',
    examples: BULK_SUMMARY_EXAMPLES,
    headers: { 'Idempotent-Replayed': 'sometimes' },
  })
  @ApiProblems('validation_failed', 'resource_not_writable', ...WRITE_PROBLEMS)
  async updateMany(
    @CurrentWrite() { workspaceId, author, mediaType }: CurrentWriteRequest,
    @Body() body: BulkUpdateDto,
    @Query() _query: NoQueryDto,
    @Req() request: Request,
  ): Promise<BulkUpdateSummaryDto> {
    refuseIfMatch(request);
    return toBulkUpdateSummaryDto(await this.assets.updateMany(workspaceId, toBulkUpdate(body, mediaType), author));
  }
}
