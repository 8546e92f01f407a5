export { AssetsService } from './assets/application/assets.service';
export { type Asset, CLASSIFICATIONS } from './assets/domain/asset';
export { type SentPatch } from './assets/domain/asset-patch';
export { ASSET_CATEGORIES, categoryOf } from './assets/domain/asset-category';
export { AssetQueryDto } from './assets/http/asset-query.dto';
export { ImportRuns } from './imports/domain/import-runs.port';
export { inventoryServices } from './inventory.module';
export { TagKeyRepository } from './tag-keys/domain/tag-key-repository.port';
