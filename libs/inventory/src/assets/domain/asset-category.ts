import { type Page, type PageRequest, toPage } from '#libs/kernel';

/** The top-level categories in the order of the specification. */
export const CATEGORY_KEYS = ['CLOUD', 'COMPUTER', 'CUSTOM', 'INFORMATION', 'EMPLOYEE'] as const;
export type CategoryKey = (typeof CATEGORY_KEYS)[number];

/** Types of assets within CLOUD. */
const CLOUD_TYPES = [
  'CLOUD_AUTOSCALE_GROUPS',
  'CLOUD_COMPUTE_INSTANCE',
  'CLOUD_CONTAINER_REPOSITORY',
  'CLOUD_DATA_WAREHOUSE',
  'CLOUD_LOAD_BALANCER',
  'CLOUD_NO_SQL_DATABASE',
  'CLOUD_PAAS_APPS',
  'CLOUD_QUEUE',
  'CLOUD_RELATIONAL_DATABASE',
  'CLOUD_STORAGE_BUCKET',
  'CLOUD_OTHER',
] as const;

/** The values of an asset's `type`: the leaves of the sub keys. Clients must accept new ones. */
export const ASSET_TYPES = [...CLOUD_TYPES, 'COMPUTER', 'CUSTOM', 'INFORMATION', 'EMPLOYEE'] as const;
export type AssetType = (typeof ASSET_TYPES)[number];

/** The values of the filter `subKey`: every type, and `CLOUD` for all cloud resources. */
export const SUB_KEYS = ['CLOUD', ...ASSET_TYPES] as const;
export type SubKey = (typeof SUB_KEYS)[number];

export interface AssetCategory {
  readonly key: CategoryKey;
  readonly displayLabel: string;
}

export const ASSET_CATEGORIES: readonly AssetCategory[] = [
  { key: 'CLOUD', displayLabel: 'Cloud resources' },
  { key: 'COMPUTER', displayLabel: 'Computers' },
  { key: 'CUSTOM', displayLabel: 'Custom assets' },
  { key: 'INFORMATION', displayLabel: 'Information assets' },
  { key: 'EMPLOYEE', displayLabel: 'Employees' },
];

/** Pages the categories like every list. */
export function pageOfCategories({ size, after }: PageRequest): Page<AssetCategory> {
  const start = ASSET_CATEGORIES.findIndex(({ key }) => key === after) + 1;
  return toPage(ASSET_CATEGORIES.slice(start), size, ASSET_CATEGORIES.length, ({ key }) => key);
}

export function categoryOf(subKey: SubKey): CategoryKey {
  return CATEGORY_KEYS.find((key) => key === subKey) ?? 'CLOUD';
}
