import { Module } from '@nestjs/common';
import { AssetsService } from './application/assets.service';
import { CategoriesService } from './application/categories.service';
import { DemoService } from './application/demo.service';
import { ImportsService } from './application/imports.service';
import { TagKeysService } from './application/tag-keys.service';
import { AssetRepository } from './domain/asset-repository.port';
import { ImportFiles } from './domain/import-files.port';
import { ImportStore } from './domain/import-store.port';
import { TagKeyRepository } from './domain/tag-key-repository.port';
import { AssetsController } from './http/assets.controller';
import { CategoriesController } from './http/categories.controller';
import { ImportFilesSystem } from './system/import-files.system';
import { AssetRepositoryTypeorm } from './typeorm/asset-repository.typeorm';
import { ImportStoreTypeorm } from './typeorm/import-store.typeorm';
import { TagKeyRepositoryTypeorm } from './typeorm/tag-key-repository.typeorm';

/** The inventory as clients read it. */
@Module({
  controllers: [CategoriesController, AssetsController],
  providers: [AssetsService, CategoriesService, { provide: AssetRepository, useClass: AssetRepositoryTypeorm }],
})
export class InventoryModule {}

/** How operators bring the inventory in. */
@Module({
  providers: [
    DemoService,
    ImportsService,
    TagKeysService,
    { provide: ImportFiles, useClass: ImportFilesSystem },
    { provide: ImportStore, useClass: ImportStoreTypeorm },
    { provide: TagKeyRepository, useClass: TagKeyRepositoryTypeorm },
  ],
  exports: [DemoService, ImportsService, TagKeysService],
})
export class InventoryOperatorModule {}
