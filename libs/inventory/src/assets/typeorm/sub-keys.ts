import { ASSET_TYPES, type AssetType } from '../domain/asset-category';

/** The number in `asset.sub_key`; migration 1780000000010 says which number is which type. */
export const subKeyOf = (type: AssetType): number => ASSET_TYPES.indexOf(type) + 1;

/** The last sub key of the cloud. The index `asset_cloud_facet` of migration 1780000000010 ends there too. */
export const LAST_CLOUD = subKeyOf('CLOUD_OTHER');
export const COMPUTER = subKeyOf('COMPUTER');
export const EMPLOYEE = subKeyOf('EMPLOYEE');
