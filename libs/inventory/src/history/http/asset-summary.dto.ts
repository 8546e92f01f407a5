import { ApiProperty } from '@nestjs/swagger';
import { DayDto, ItemCount } from '#libs/platform/change-pages';
import type { CountedDay } from '#libs/platform/changes';
import { ApiObject, example } from '#libs/platform/openapi';
import type { Classification } from '../../assets/domain/asset';
import { ASSET_TYPES, CATEGORY_KEYS, categoryOf } from '../../assets/domain/asset-category';
import { FACETS } from '../../assets/domain/asset-filter';
import { CATEGORY_KEY } from '../../assets/http/asset.dto';

@ApiObject({ name: 'ClassificationCounts', description: 'Visible assets by classification.' })
export class ClassificationCountsDto implements Record<Classification, number> {
  @ItemCount('Confidential assets.')
  CONFIDENTIAL!: number;

  @ItemCount('Internal assets.')
  INTERNAL!: number;

  @ItemCount('Public assets.')
  PUBLIC!: number;

  @ItemCount('Assets that nobody classified.')
  UNKNOWN!: number;
}

@ApiObject({ name: 'CategoryCounts', description: 'Visible assets of one category.' })
export class CategoryCountsDto {
  @ApiProperty({ ...CATEGORY_KEY, description: 'The category.', example: 'CLOUD' })
  categoryKey!: string;

  @ItemCount('All of them.')
  total!: number;

  @ItemCount('Those with an owner.')
  withOwner!: number;

  @ItemCount('Those with a description.')
  withDescription!: number;

  @ApiProperty({ type: ClassificationCountsDto, description: 'All of them by classification.' })
  classification!: ClassificationCountsDto;
}

@ApiObject({ name: 'AssetDay', description: 'Counts of visible assets on one day.' })
export class AssetDayDto extends DayDto {
  @ApiProperty({ type: [CategoryCountsDto], maxItems: 16, description: 'One entry for each category.' })
  categories!: CategoryCountsDto[];
}

@ApiObject({ name: 'AssetSummary', description: 'Counts of visible assets by day.' })
export class AssetSummaryDto {
  @ApiProperty({ type: [AssetDayDto], maxItems: 400, description: 'The days, oldest first.' })
  results!: AssetDayDto[];
}

/** Counts of sub key and facet as clients see them. */
export function toAssetDayDto({ date, isFinal, cells }: CountedDay): AssetDayDto {
  const categories = CATEGORY_KEYS.map((categoryKey): CategoryCountsDto => ({
    ...{ categoryKey, total: 0, withOwner: 0, withDescription: 0 },
    classification: { CONFIDENTIAL: 0, INTERNAL: 0, PUBLIC: 0, UNKNOWN: 0 },
  }));
  for (const [subKey = 0, place = 0, n = 0] of cells) {
    const type = ASSET_TYPES[subKey - 1];
    const facet = FACETS[place];
    const counts = type && categories[CATEGORY_KEYS.indexOf(categoryOf(type))];
    if (!counts || !facet) continue;
    counts.total += n;
    if (facet.hasOwner) counts.withOwner += n;
    if (facet.hasDescription) counts.withDescription += n;
    counts.classification[facet.classification] += n;
  }
  return { date, isFinal, categories };
}

export const ASSET_SUMMARY_EXAMPLES = {
  day: example<AssetSummaryDto>('A past day', {
    results: [
      toAssetDayDto({
        date: '2026-11-24',
        isFinal: true,
        cells: [
          [10, 11, 9],
          [12, 2, 40],
          [15, 0, 25],
        ],
      }),
    ],
  }),
};
