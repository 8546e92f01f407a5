import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiSuccess, ApiProblems } from '#libs/platform/openapi';
import { type Caller, CurrentCaller, RequireScope } from '#libs/platform/http';
import { PageQueryDto, Paging } from '#libs/platform/pagination';
import type { Response } from 'express';
import { pageOfCategories } from '../domain/asset-category';
import { AssetCategoryPageDto, CATEGORY_PAGE_EXAMPLES } from './asset-category.dto';

const RESOURCE = 'categories';

@ApiTags('Inventory')
@Controller('v1/inventory/categories')
export class CategoriesController {
  constructor(private readonly paging: Paging) {}

  @Get()
  @RequireScope('inventory:read')
  @ApiOperation({
    operationId: 'listCategories',
    summary: 'List asset categories',
    description: 'Needs `inventory:read` (or `all:read`). Returns the categories and their labels, in a fixed order.',
  })
  @ApiSuccess(AssetCategoryPageDto, {
    description: 'A page of categories.',
    examples: CATEGORY_PAGE_EXAMPLES,
    headers: { Link: 'sometimes' },
  })
  @ApiProblems('validation_failed', 'invalid_cursor')
  list(
    @CurrentCaller() { workspaceId }: Caller,
    @Query() query: PageQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): AssetCategoryPageDto {
    const { page, texts } = this.paging.request(workspaceId, RESOURCE, query, response);
    const found = pageOfCategories(page);
    return {
      results: [...found.items],
      pageInfo: this.paging.pageInfo(response, workspaceId, RESOURCE, found, texts),
    };
  }
}
