import { Module } from '@nestjs/common';
import { AssetsService } from './application/assets.service';
import { CategoriesService } from './application/categories.service';
import { AssetRepository } from './domain/asset-repository.port';
import { AssetsController } from './http/assets.controller';
import { CategoriesController } from './http/categories.controller';
import { AssetRepositoryTypeorm } from './typeorm/asset-repository.typeorm';

@Module({
  controllers: [CategoriesController, AssetsController],
  providers: [AssetsService, CategoriesService, { provide: AssetRepository, useClass: AssetRepositoryTypeorm }],
})
export class InventoryModule {}
