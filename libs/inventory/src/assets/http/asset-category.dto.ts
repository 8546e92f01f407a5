import { ApiProperty } from '@nestjs/swagger';
import { ApiObject, example } from '#libs/platform/openapi';
import { pageOf } from '#libs/platform/pagination';
import { ASSET_CATEGORIES } from '../domain/asset-category';
import { CATEGORY_KEY } from './asset.dto';

@ApiObject({ name: 'AssetCategory', description: 'One of the top-level categories of the inventory.' })
export class AssetCategoryDto {
  @ApiProperty({ ...CATEGORY_KEY, description: 'Stable category key.', example: 'CLOUD' })
  key!: string;

  @ApiProperty({ minLength: 1, maxLength: 100, description: 'Human-readable label.', example: 'Cloud resources' })
  displayLabel!: string;
}

@ApiObject({ name: 'AssetCategoryPage', description: 'A page of categories.' })
export class AssetCategoryPageDto extends pageOf(AssetCategoryDto, 'The categories of the page.') {}

export const CATEGORY_PAGE_EXAMPLES = {
  all: example<AssetCategoryPageDto>('The five categories', {
    results: [...ASSET_CATEGORIES],
    pageInfo: { hasNextPage: false, endCursor: null, totalCount: ASSET_CATEGORIES.length },
  }),
};
