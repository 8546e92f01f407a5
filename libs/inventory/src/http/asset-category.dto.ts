import { ApiProperty } from '@nestjs/swagger';
import { PageInfoDto } from '#libs/platform';
import { CATEGORY_KEYS } from '../domain/asset-category';

export class AssetCategoryDto {
  @ApiProperty({ enum: CATEGORY_KEYS, description: 'Stable category key.' })
  key!: string;

  @ApiProperty({ description: 'Human-readable label.' })
  displayLabel!: string;
}

export class AssetCategoryPageDto {
  @ApiProperty({ type: [AssetCategoryDto] })
  results!: AssetCategoryDto[];

  @ApiProperty({ type: PageInfoDto })
  pageInfo!: PageInfoDto;
}
