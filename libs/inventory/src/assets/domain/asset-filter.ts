import { type AssetType, ASSET_TYPES, type CategoryKey, type SubKey, categoryOf } from './asset-category';
import { type Classification, CLASSIFICATIONS } from './asset';

/** Which assets a list shows. Members combine with AND; an absent one does not filter. */
export interface AssetFilter {
  readonly categoryKey?: CategoryKey;
  readonly subKey?: SubKey;
  readonly hasOwner?: boolean;
  readonly hasDescription?: boolean;
  readonly classification?: Classification;
  /** Another word for `hasOwner`; the two may contradict each other, and then nothing matches. */
  readonly completeStatus?: 'COMPLETE' | 'INCOMPLETE';
}

/** A `subKey` belongs to exactly one category; naming another one beside it is a fault of the request. */
export function isConsistent({ categoryKey, subKey }: AssetFilter): boolean {
  return categoryKey === undefined || subKey === undefined || categoryOf(subKey) === categoryKey;
}

/** The types that the filter lets through. */
export function typesOf({ categoryKey, subKey }: AssetFilter): AssetType[] {
  return ASSET_TYPES.filter(
    (type) =>
      (categoryKey === undefined || categoryOf(type) === categoryKey) &&
      (subKey === undefined || subKey === type || (subKey === 'CLOUD' && categoryOf(type) === 'CLOUD')),
  );
}

/** The combinations of classification, owner and description that the filter lets through, of the sixteen there are. */
export function facetsOf(filter: AssetFilter): Facet[] {
  return FACETS.filter(
    (facet) =>
      (filter.classification === undefined || filter.classification === facet.classification) &&
      (filter.hasOwner === undefined || filter.hasOwner === facet.hasOwner) &&
      (filter.completeStatus === undefined || (filter.completeStatus === 'COMPLETE') === facet.hasOwner) &&
      (filter.hasDescription === undefined || filter.hasDescription === facet.hasDescription),
  );
}

/** What filters other than those of the category look at. */
export interface Facet {
  readonly classification: Classification;
  readonly hasOwner: boolean;
  readonly hasDescription: boolean;
}

/**
 * All facets. The place of each is its number in `asset.facet`, which the database computes: see the expression of that
 * column in migration 1780000000010-assets-and-facet-counts.
 */
export const FACETS: readonly Facet[] = CLASSIFICATIONS.flatMap((classification) =>
  [false, true].flatMap((hasOwner) =>
    [false, true].map((hasDescription) => ({ classification, hasOwner, hasDescription })),
  ),
);
