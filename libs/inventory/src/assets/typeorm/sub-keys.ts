import { ASSET_TYPES, type AssetType } from '../domain/asset-category';

/** Returns the number in `asset.sub_key`. Migration 1780000000010 defines the numbers. */
export const subKeyOf = (type: AssetType): number => ASSET_TYPES.indexOf(type) + 1;

/** The last cloud sub key. The index `asset_cloud_facet` of migration 1780000000010 ends there, too. */
export const LAST_CLOUD = subKeyOf('CLOUD_OTHER');
export const COMPUTER = subKeyOf('COMPUTER');
export const EMPLOYEE = subKeyOf('EMPLOYEE');
