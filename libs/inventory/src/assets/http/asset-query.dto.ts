import type { AssetId } from '#libs/kernel';
import {
  Choice,
  ChoiceList,
  DistinctUuids,
  ExactEmail,
  ExactExternalId,
  ExactText,
  Flag,
  Uuid,
  check,
} from '#libs/platform/input';
import { StreamedPageQueryDto } from '#libs/platform/pagination';
import type { Classification, CompleteStatus } from '../domain/asset';
import { CATEGORY_KEYS, type CategoryKey, SUB_KEYS, type SubKey } from '../domain/asset-category';
import { type AssetFilter, isConsistent } from '../domain/asset-filter';
import { CATEGORY_KEY, CLASSIFICATION, COMPLETE_STATUS, SUB_KEY } from './asset.dto';

/** The id in a path. */
export const ASSET_ID = {
  name: 'id',
  format: 'uuid',
  description: 'Id of the asset: 8-4-4-4-12 hexadecimal digits in either case.',
  example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11',
} as const;

const isOneOf = <Key extends string>(keys: readonly Key[], value: unknown): value is Key => keys.includes(value as Key);

/** Refuses a type beside another category than its own. A value that is in no list is another fault. */
const OfCategory = (): PropertyDecorator =>
  check({
    code: 'choice',
    isValid: (subKey, { categoryKey }) =>
      !isOneOf(SUB_KEYS, subKey) || !isOneOf(CATEGORY_KEYS, categoryKey) || isConsistent({ categoryKey, subKey }),
    message: 'does not belong to categoryKey',
  });

/** Query of the list of assets. */
export class AssetQueryDto extends StreamedPageQueryDto implements AssetFilter {
  @Choice({
    list: CATEGORY_KEY,
    example: 'CLOUD',
    description: 'Only assets of this category.',
  })
  categoryKey?: CategoryKey;

  @OfCategory()
  @Choice({
    list: SUB_KEY,
    example: 'CLOUD_STORAGE_BUCKET',
    description:
      'Only assets of this type; `CLOUD` matches every cloud asset. It must belong to `categoryKey` if you send both.',
  })
  subKey?: SubKey;

  @Flag({
    example: false,
    description: 'True: only assets with an owner. False: only assets without one.',
  })
  hasOwner?: boolean;

  @Flag({
    example: true,
    description: 'True: only assets with a description. False: only assets without one.',
  })
  hasDescription?: boolean;

  @Choice({
    list: CLASSIFICATION,
    example: 'CONFIDENTIAL',
    description: 'Only assets of this classification; `UNKNOWN` matches unclassified assets.',
  })
  classification?: Classification;

  @Choice({
    list: COMPLETE_STATUS,
    example: 'INCOMPLETE',
    description: '`COMPLETE` is the same as `hasOwner=true`. If the two contradict each other, the page is empty.',
  })
  completeStatus?: CompleteStatus;

  @ChoiceList({
    list: CATEGORY_KEY,
    notWith: 'categoryKey',
    example: ['CLOUD', 'COMPUTER'],
    description: 'Only assets of these categories, separated by commas.',
  })
  categoryKeyAnyOf?: CategoryKey[];

  @ChoiceList({
    list: SUB_KEY,
    notWith: 'subKey',
    example: ['CLOUD_QUEUE', 'CUSTOM'],
    description: 'Only assets of these types, separated by commas; `CLOUD` matches every cloud asset.',
  })
  subKeyAnyOf?: SubKey[];

  @ChoiceList({
    list: CLASSIFICATION,
    notWith: 'classification',
    example: ['INTERNAL', 'CONFIDENTIAL'],
    description: 'Only assets of these classifications, separated by commas.',
  })
  classificationAnyOf?: Classification[];

  @DistinctUuids({
    description: 'Only these assets: 1 to 100 ids, separated by commas. An id that nobody has matches nothing.',
    example: ['018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c11'],
  })
  ids?: AssetId[];

  @Uuid({
    description: 'Only assets of this owner, an employee. An id that nobody has gives an empty page.',
    example: '018f9c2e-7d2a-7c41-9a51-3b6d0f2e8c20',
  })
  ownerId?: AssetId;

  @Flag({
    description:
      'False: only assets whose owner is no longer a visible employee, such as those of leavers. True: only assets whose owner is one.',
    example: false,
  })
  ownerVisible?: boolean;

  @ExactText({
    maxLength: 1000,
    description: 'Only assets with this tag. A key that does not exist gives an empty page.',
    example: 'env',
  })
  tagKey?: string;

  @ExactExternalId({
    description:
      'Only the asset with this id in its source system; several where sources share the id. Send `source` as well to name one.',
    example: 'arn:aws:s3:::acme-logs',
  })
  externalId?: string;

  @ExactText({ description: 'Only assets of this import source.', example: 'aws' })
  source?: string;

  @ExactText({ description: 'Only computers with this serial number.', example: 'C02XK1YZJGH5' })
  serialNumber?: string;

  @ExactEmail({
    description: 'Only employees with this e-mail address, in any letter case.',
    example: 'ada@example.com',
  })
  email?: string;

  @ExactText({ description: 'Only assets with exactly this name, in the same case.', example: 'acme-logs' })
  name?: string;
}
