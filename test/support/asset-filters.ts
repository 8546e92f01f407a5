import type { AssetFilter } from '../../libs/inventory/src/assets/domain/asset-filter';

/** Each single filter, and combinations from the most common to the rarest. */
export const ASSET_FILTERS: readonly AssetFilter[] = [
  {},
  { categoryKey: 'CLOUD' },
  { categoryKey: 'COMPUTER' },
  { categoryKey: 'EMPLOYEE' },
  { subKey: 'CLOUD' },
  { subKey: 'CLOUD_QUEUE' },
  { hasOwner: true },
  { hasOwner: false },
  { hasDescription: true },
  { hasDescription: false },
  { classification: 'CONFIDENTIAL' },
  { classification: 'UNKNOWN' },
  { completeStatus: 'INCOMPLETE' },
  { hasOwner: false, hasDescription: false, classification: 'PUBLIC' },
  { categoryKey: 'CLOUD', hasOwner: false, hasDescription: false, classification: 'PUBLIC' },
  { subKey: 'CUSTOM', hasOwner: false, hasDescription: true, classification: 'CONFIDENTIAL' },
  { categoryKeyAnyOf: ['COMPUTER', 'CLOUD'] },
  { categoryKeyAnyOf: ['CLOUD', 'COMPUTER', 'CUSTOM', 'INFORMATION'] },
  { categoryKeyAnyOf: ['CLOUD', 'CUSTOM'], hasOwner: false },
  { subKeyAnyOf: ['CLOUD_QUEUE', 'CLOUD_STORAGE_BUCKET', 'COMPUTER'] },
  { subKeyAnyOf: ['CLOUD_QUEUE', 'CLOUD_STORAGE_BUCKET', 'COMPUTER'], classification: 'CONFIDENTIAL' },
  { classificationAnyOf: ['PUBLIC', 'CONFIDENTIAL'] },
];

/** One filter of each facet, to be combined with a filter that has many values. */
const FACET_FILTERS: readonly AssetFilter[] = [
  { categoryKey: 'CLOUD' },
  { categoryKey: 'COMPUTER' },
  { subKey: 'CLOUD_QUEUE' },
  { hasOwner: true },
  { completeStatus: 'COMPLETE' },
  { hasDescription: true },
  { classification: 'CONFIDENTIAL' },
  { categoryKeyAnyOf: ['CLOUD', 'COMPUTER'] },
  { subKeyAnyOf: ['CLOUD_QUEUE', 'CLOUD_STORAGE_BUCKET'] },
  { classificationAnyOf: ['PUBLIC', 'CONFIDENTIAL'] },
];

/** A filter that has many values: alone, and beside a filter of each facet. */
export const withFacetFilters = (key: AssetFilter): AssetFilter[] => [
  key,
  ...FACET_FILTERS.map((other) => ({ ...key, ...other })),
];
