import { ApiPropertyOptional } from '@nestjs/swagger';
import { assetId } from '#libs/kernel';
import { AnyOf, ExactId, ExactText, type ListFilters, PageQueryDto } from '#libs/platform/pagination';
import { IsIn, IsOptional } from 'class-validator';
import { CLASSIFICATIONS, COMPLETE_STATUSES } from '../domain/asset';
import { CATEGORY_KEYS, SUB_KEYS } from '../domain/asset-category';
import type { AssetFilter } from '../domain/asset-filter';
import { CATEGORY_KEY, CLASSIFICATION, COMPLETE_STATUS, SUB_KEY } from './asset-enums';

const BOOLEANS = ['true', 'false'] as const;
const oneOf = (name: string, values: readonly string[]) => ({ message: `${name} must be one of ${values.join(', ')}` });

/** Query of the asset list. Members are strings as sent; `toAssetFilter` converts them. */
export class AssetQueryDto extends PageQueryDto {
  @ApiPropertyOptional({
    ...CATEGORY_KEY,
    example: 'CLOUD',
    description: 'Only assets of this category.',
  })
  @IsOptional()
  @IsIn(CATEGORY_KEYS, oneOf('categoryKey', CATEGORY_KEYS))
  categoryKey?: string;

  @ApiPropertyOptional({
    ...SUB_KEY,
    example: 'CLOUD_STORAGE_BUCKET',
    description:
      'Only assets of this type; `CLOUD` matches every cloud asset. It must belong to `categoryKey` if you send both.',
  })
  @IsOptional()
  @IsIn(SUB_KEYS, oneOf('subKey', SUB_KEYS))
  subKey?: string;

  @ApiPropertyOptional({
    type: 'boolean',
    example: false,
    description: 'True: only assets with an owner. False: only assets without one.',
  })
  @IsOptional()
  @IsIn(BOOLEANS, oneOf('hasOwner', BOOLEANS))
  hasOwner?: string;

  @ApiPropertyOptional({
    type: 'boolean',
    example: true,
    description: 'True: only assets with a description. False: only assets without one.',
  })
  @IsOptional()
  @IsIn(BOOLEANS, oneOf('hasDescription', BOOLEANS))
  hasDescription?: string;

  @ApiPropertyOptional({
    ...CLASSIFICATION,
    example: 'CONFIDENTIAL',
    description: 'Only assets of this classification; `UNKNOWN` matches unclassified assets.',
  })
  @IsOptional()
  @IsIn(CLASSIFICATIONS, oneOf('classification', CLASSIFICATIONS))
  classification?: string;

  @ApiPropertyOptional({
    ...COMPLETE_STATUS,
    example: 'INCOMPLETE',
    description: '`COMPLETE` is the same as `hasOwner=true`. If the two contradict each other, the page is empty.',
  })
  @IsOptional()
  @IsIn(COMPLETE_STATUSES, oneOf('completeStatus', COMPLETE_STATUSES))
  completeStatus?: string;

  @AnyOf({
    ...{
      values: CATEGORY_KEYS,
      schemaName: CATEGORY_KEY.enumName,
      example: ['CLOUD', 'COMPUTER'],
      notWith: 'categoryKey',
    },
    description: 'Only assets of these categories, separated by commas.',
  })
  categoryKeyAnyOf?: string;

  @AnyOf({
    ...{ values: SUB_KEYS, schemaName: SUB_KEY.enumName, example: ['CLOUD_QUEUE', 'CUSTOM'], notWith: 'subKey' },
    description: 'Only assets of these types, separated by commas; `CLOUD` matches every cloud asset.',
  })
  subKeyAnyOf?: string;

  @AnyOf({
    values: CLASSIFICATIONS,
    schemaName: CLASSIFICATION.enumName,
    example: ['INTERNAL', 'CONFIDENTIAL'],
    notWith: 'classification',
    description: 'Only assets of these classifications, separated by commas.',
  })
  classificationAnyOf?: string;

  @ExactId({
    description: 'Only assets of this owner, an employee. An id that nobody has gives an empty page.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c20',
  })
  ownerId?: string;

  @ExactText({
    maxLength: 1000,
    description: 'Only assets with this tag. A key that does not exist gives an empty page.',
    example: 'env',
  })
  tagKey?: string;

  @ExactText({
    description:
      'Only the asset with this id in its source system; several where sources share the id. Send `source` as well to name one.',
    example: 'arn:aws:s3:::acme-logs',
  })
  externalId?: string;

  @ExactText({ description: 'Only assets of this import source.', example: 'aws' })
  source?: string;

  @ExactText({ description: 'Only computers with this serial number.', example: 'C02XK1YZJGH5' })
  serialNumber?: string;

  @ExactText({
    description: 'Only the employee with this e-mail address, in the same case.',
    example: 'ada@example.com',
  })
  email?: string;

  @ExactText({ description: 'Only assets with exactly this name, in the same case.', example: 'acme-logs' })
  name?: string;
}

/** Converts filters, already validated by {@link AssetQueryDto}, to the domain's filter. */
export function toAssetFilter(filters: ListFilters): AssetFilter {
  return Object.fromEntries(Object.entries(filters).map(([name, text]) => [name, toValue(name, text)]));
}

function toValue(name: string, text: string): string | boolean | string[] {
  if (name.startsWith('has')) return text === 'true';
  if (name === 'ownerId') return assetId(text);
  return name.endsWith('AnyOf') ? text.split(',') : text;
}
