import { CLASSIFICATIONS } from '../../../libs/inventory/src/assets/domain/asset';
import { ASSET_TYPES, CATEGORY_KEYS } from '../../../libs/inventory/src/assets/domain/asset-category';
import type { AssetFilter } from '../../../libs/inventory/src/assets/domain/asset-filter';

/**
 * Returns every filter, from none to all at once. Omits `completeStatus`, which equals `hasOwner`, and `categoryKey`
 * beside a `subKey`, which implies it.
 */
export function everyFilter(): AssetFilter[] {
  const categories: AssetFilter[] = [
    {},
    ...CATEGORY_KEYS.map((categoryKey) => ({ categoryKey })),
    ...ASSET_TYPES.map((subKey) => ({ subKey })),
  ];
  const either = [undefined, true, false];
  return categories.flatMap((category) =>
    either.flatMap((hasOwner) =>
      either.flatMap((hasDescription) =>
        [undefined, ...CLASSIFICATIONS].map((classification) => ({
          ...category,
          ...(hasOwner === undefined ? {} : { hasOwner }),
          ...(hasDescription === undefined ? {} : { hasDescription }),
          ...(classification === undefined ? {} : { classification }),
        })),
      ),
    ),
  );
}
