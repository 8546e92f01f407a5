import { Module, type Provider } from '@nestjs/common';
import { AssetsService } from './assets/application/assets.service';
import { AssetRepository } from './assets/domain/asset-repository.port';
import { AssetsController } from './assets/http/assets.controller';
import { CategoriesController } from './assets/http/categories.controller';
import { AssetRepositoryTypeorm } from './assets/typeorm/asset-repository.typeorm';
import { TagKeyRepository } from './tag-keys/domain/tag-key-repository.port';
import { TagKeysController } from './tag-keys/http/tag-keys.controller';
import { TagKeyRepositoryTypeorm } from './tag-keys/typeorm/tag-key-repository.typeorm';
import { AuditModule } from '#libs/audit';
import { ChangesController } from './changes/http/changes.controller';
import { ImportRuns } from './imports/domain/import-runs.port';
import { SourcesController } from './imports/http/sources.controller';
import { ImportRunsTypeorm } from './imports/typeorm/import-runs.typeorm';
import { ImportWatch } from './imports/typeorm/import-watch';
import { HistoryController } from './history/http/history.controller';
import { HistoryRetention } from './history/typeorm/history-retention';
import { HistoryWork } from './history/typeorm/history-work';
import { EmptyChangeSets } from './changes/typeorm/empty-change-sets';

/** Services that routes and pages call. */
export const inventoryServices: Provider[] = [
  AssetsService,
  { provide: AssetRepository, useClass: AssetRepositoryTypeorm },
  { provide: ImportRuns, useClass: ImportRunsTypeorm },
  { provide: TagKeyRepository, useClass: TagKeyRepositoryTypeorm },
];

/** Lets clients read and update the inventory. */
@Module({
  imports: [AuditModule],
  controllers: [
    CategoriesController,
    AssetsController,
    TagKeysController,
    SourcesController,
    ChangesController,
    HistoryController,
  ],
  providers: [...inventoryServices, EmptyChangeSets, HistoryRetention, HistoryWork, ImportWatch],
})
export class InventoryModule {}
