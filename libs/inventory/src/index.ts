export { AssetsService } from './assets/application/assets.service';
export { type Asset, CLASSIFICATIONS, MAX_DESCRIPTION_LENGTH } from './assets/domain/asset';
export { type SentPatch } from './assets/domain/asset-patch';
export { ASSET_CATEGORIES, ASSET_TYPES, categoryOf } from './assets/domain/asset-category';
export { MOST_SEARCHED } from './assets/domain/asset-repository.port';
export { AssetQueryDto } from './assets/http/asset-query.dto';
export { toAssetDayDto } from './history/http/asset-summary.dto';
export { ImportRuns } from './imports/domain/import-runs.port';
export { inventoryServices } from './inventory.module';
