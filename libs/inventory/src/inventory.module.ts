import { Module } from '@nestjs/common';
import { AssetsService } from './assets/application/assets.service';
import { CategoriesService } from './assets/application/categories.service';
import { AssetRepository } from './assets/domain/asset-repository.port';
import { AssetsController } from './assets/http/assets.controller';
import { CategoriesController } from './assets/http/categories.controller';
import { AssetRepositoryTypeorm } from './assets/typeorm/asset-repository.typeorm';
import { AuditModule } from '#libs/audit';

/** Lets clients read and update the inventory. */
@Module({
  imports: [AuditModule],
  controllers: [CategoriesController, AssetsController],
  providers: [AssetsService, CategoriesService, { provide: AssetRepository, useClass: AssetRepositoryTypeorm }],
})
export class InventoryModule {}
