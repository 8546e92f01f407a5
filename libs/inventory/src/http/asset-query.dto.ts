import { ApiPropertyOptional } from '@nestjs/swagger';
import { PageQueryDto } from '#libs/platform';
import type { ListFilters } from '#libs/platform';
import { IsIn, IsOptional } from 'class-validator';
import { CLASSIFICATIONS, COMPLETE_STATUSES } from '../domain/asset';
import { CATEGORY_KEYS, SUB_KEYS } from '../domain/asset-category';
import type { AssetFilter } from '../domain/asset-filter';

const BOOLEANS = ['true', 'false'] as const;
const oneOf = (name: string, values: readonly string[]) => ({ message: `${name} must be one of ${values.join(', ')}` });

/** Query of the asset list. Members are strings as sent; `toAssetFilter` gives them their types. */
export class AssetQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ enum: CATEGORY_KEYS, description: 'Restricts to one top-level category.' })
  @IsOptional()
  @IsIn(CATEGORY_KEYS, oneOf('categoryKey', CATEGORY_KEYS))
  categoryKey?: string;

  @ApiPropertyOptional({
    enum: SUB_KEYS,
    description:
      'Restricts to one sub-type; `CLOUD` matches every cloud asset. Must belong to `categoryKey` when both are given.',
  })
  @IsOptional()
  @IsIn(SUB_KEYS, oneOf('subKey', SUB_KEYS))
  subKey?: string;

  @ApiPropertyOptional({ type: 'boolean', description: 'Whether an owner is assigned.' })
  @IsOptional()
  @IsIn(BOOLEANS, oneOf('hasOwner', BOOLEANS))
  hasOwner?: string;

  @ApiPropertyOptional({ type: 'boolean', description: 'Whether a governance description is set.' })
  @IsOptional()
  @IsIn(BOOLEANS, oneOf('hasDescription', BOOLEANS))
  hasDescription?: string;

  @ApiPropertyOptional({ enum: CLASSIFICATIONS, description: '`UNKNOWN` matches unclassified assets.' })
  @IsOptional()
  @IsIn(CLASSIFICATIONS, oneOf('classification', CLASSIFICATIONS))
  classification?: string;

  @ApiPropertyOptional({ enum: COMPLETE_STATUSES, description: 'Alias of `hasOwner`.' })
  @IsOptional()
  @IsIn(COMPLETE_STATUSES, oneOf('completeStatus', COMPLETE_STATUSES))
  completeStatus?: string;
}

/** Filters in force, already checked against {@link AssetQueryDto}, as the domain knows them. */
export function toAssetFilter(filters: ListFilters): AssetFilter {
  const { hasOwner, hasDescription, ...named } = filters;
  return {
    ...(named as Pick<AssetFilter, 'categoryKey' | 'subKey' | 'classification' | 'completeStatus'>),
    ...(hasOwner === undefined ? {} : { hasOwner: hasOwner === 'true' }),
    ...(hasDescription === undefined ? {} : { hasDescription: hasDescription === 'true' }),
  };
}
