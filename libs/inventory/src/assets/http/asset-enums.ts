import { namedEnum } from '#libs/platform/openapi';
import { CLASSIFICATIONS, COMPLETE_STATUSES } from '../domain/asset';
import { CATEGORY_KEYS, SUB_KEYS } from '../domain/asset-category';

export const CATEGORY_KEY = namedEnum('AssetCategoryKey', CATEGORY_KEYS, 'Key of a top-level category.');
export const SUB_KEY = namedEnum('AssetSubKey', SUB_KEYS, 'Sub-type of assets; `CLOUD` stands for every cloud asset.');
export const CLASSIFICATION = namedEnum('Classification', CLASSIFICATIONS, 'Data classification.');
export const COMPLETE_STATUS = namedEnum('CompleteStatus', COMPLETE_STATUSES, 'Whether the asset has an owner.');
