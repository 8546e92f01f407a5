import type { AssetId } from '#libs/kernel';
import { type AssetType, ASSET_TYPES, type CategoryKey, type SubKey, categoryOf } from './asset-category';
import { type Classification, CLASSIFICATIONS, type CompleteStatus } from './asset';

/** Filters a list of assets. Members combine with AND; an absent one does not filter. */
export interface AssetFilter {
  readonly categoryKey?: CategoryKey;
  readonly subKey?: SubKey;
  readonly hasOwner?: boolean;
  readonly hasDescription?: boolean;
  readonly classification?: Classification;
  /** Another form of `hasOwner`. When the two contradict each other, nothing matches. */
  readonly completeStatus?: CompleteStatus;
  readonly categoryKeyAnyOf?: readonly CategoryKey[];
  readonly subKeyAnyOf?: readonly SubKey[];
  readonly classificationAnyOf?: readonly Classification[];
  readonly ids?: readonly AssetId[];
  readonly ownerId?: AssetId;
  /** Whether the owner is a visible employee. Null owners are neither. */
  readonly ownerVisible?: boolean;
  /** A customer's or the platform's. */
  readonly tagKey?: string;
  readonly externalId?: string;
  readonly source?: string;
  /** Only computers show one. */
  readonly serialNumber?: string;
  /** Only employees show one. In any letter case. */
  readonly email?: string;
  readonly name?: string;
}

/** A `subKey` belongs to exactly one category. Naming another category with it is an error. */
export function isConsistent({ categoryKey, subKey }: AssetFilter): boolean {
  return categoryKey === undefined || subKey === undefined || categoryOf(subKey) === categoryKey;
}

/** Returns the types that can match the filter. */
export function typesOf(filter: AssetFilter): AssetType[] {
  const { categoryKey, subKey, categoryKeyAnyOf, subKeyAnyOf, serialNumber, email } = filter;
  return ASSET_TYPES.filter(
    (type) =>
      (serialNumber === undefined || type === 'COMPUTER') &&
      (email === undefined || type === 'EMPLOYEE') &&
      (categoryKey === undefined || categoryOf(type) === categoryKey) &&
      (subKey === undefined || isOf(type, subKey)) &&
      (categoryKeyAnyOf === undefined || categoryKeyAnyOf.includes(categoryOf(type))) &&
      (subKeyAnyOf === undefined || subKeyAnyOf.some((one) => isOf(type, one))),
  );
}

const isOf = (type: AssetType, subKey: SubKey): boolean =>
  subKey === type || (subKey === 'CLOUD' && categoryOf(type) === 'CLOUD');

/** Returns the facets that match the filter, of sixteen combinations of classification, owner and description. */
export function facetsOf(filter: AssetFilter): Facet[] {
  return FACETS.filter(
    (facet) =>
      (filter.classification === undefined || filter.classification === facet.classification) &&
      (filter.classificationAnyOf === undefined || filter.classificationAnyOf.includes(facet.classification)) &&
      (filter.hasOwner === undefined || filter.hasOwner === facet.hasOwner) &&
      (filter.ownerVisible === undefined || facet.hasOwner) &&
      (filter.completeStatus === undefined || (filter.completeStatus === 'COMPLETE') === facet.hasOwner) &&
      (filter.hasDescription === undefined || filter.hasDescription === facet.hasDescription),
  );
}

/** The properties that filters other than the category use. */
interface Facet {
  readonly classification: Classification;
  readonly hasOwner: boolean;
  readonly hasDescription: boolean;
}

/**
 * All facets. Their order must match `asset.facet`, the number that the database computes: see that column's expression
 * in migration 1780000000010-assets-and-facet-counts.
 */
export const FACETS: readonly Facet[] = CLASSIFICATIONS.flatMap((classification) =>
  [false, true].flatMap((hasOwner) =>
    [false, true].map((hasDescription) => ({ classification, hasOwner, hasDescription })),
  ),
);
