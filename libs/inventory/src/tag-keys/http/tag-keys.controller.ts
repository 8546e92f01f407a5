import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiSuccess, ApiProblems } from '#libs/platform/openapi';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { TagKeyRepository } from '../domain/tag-key-repository.port';
import { TAG_KEY_PAGE_EXAMPLES, TagKeyPageDto, TagKeyQueryDto, toTagKeyDto } from './tag-key.dto';

const RESOURCE = 'tag-keys';

@ApiTags('Inventory')
@Controller('v1/inventory/tag-keys')
export class TagKeysController {
  constructor(
    private readonly tagKeys: TagKeyRepository,
    private readonly paging: Paging,
  ) {}

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listTagKeys',
    summary: 'List tag keys',
    description:
      'Needs `inventory:read` (or `all:read`). Returns the tag keys of the workspace, ordered by the code points of ' +
      'the key, each with the exact number of visible assets.',
  })
  @ApiSuccess(TagKeyPageDto, {
    description: 'A page of tag keys.',
    examples: TAG_KEY_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor')
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: TagKeyQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TagKeyPageDto> {
    const { workspaceId } = caller;
    const { page, filters, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const found = await this.tagKeys.page(caller, filters.readOnly, page);
    return {
      results: found.items.map(toTagKeyDto),
      pageInfo: this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts),
    };
  }
}
