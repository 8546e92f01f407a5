import { Module, type Provider } from '@nestjs/common';
import { AuditOperatorModule } from '#libs/audit/operators';
import { DemoHistory } from './history/typeorm/demo-history';
import { HistoryErasure } from './history/typeorm/history-erasure';
import { RemovedAssets } from './changes/typeorm/removed-assets';
import { DemoService } from './imports/application/demo.service';
import { ImportsService } from './imports/application/imports.service';
import { ImportFiles } from './imports/domain/import-files.port';
import { ImportRuns } from './imports/domain/import-runs.port';
import { ImportStore } from './imports/domain/import-store.port';
import { TagKeyRepository } from './tag-keys/domain/tag-key-repository.port';
import { ImportFilesSystem } from './imports/system/import-files.system';
import { MapLibrary } from './imports/system/maps/map-library.system';
import { AssetCounters } from './assets/typeorm/asset-counters';
import { AssetRekey } from './imports/typeorm/asset-rekey';
import { OtherInventory } from './imports/typeorm/other-inventory';
import { ImportRunsTypeorm } from './imports/typeorm/import-runs.typeorm';
import { ImportStoreTypeorm } from './imports/typeorm/import-store.typeorm';
import { TagKeyRepositoryTypeorm } from './tag-keys/typeorm/tag-key-repository.typeorm';

export const importServices: Provider[] = [
  { provide: ImportFiles, useClass: ImportFilesSystem },
  { provide: ImportStore, useClass: ImportStoreTypeorm },
  ImportsService,
];

/** Lets operators import the inventory and maintain its counters and tag keys. */
@Module({
  imports: [AuditOperatorModule],
  providers: [
    AssetCounters,
    AssetRekey,
    {
      provide: DemoService,
      useFactory: (imports: ImportsService, tagKeys: TagKeyRepository) =>
        new DemoService(imports, tagKeys, (name) => MapLibrary.ofDemo().load(name)),
      inject: [ImportsService, TagKeyRepository],
    },
    DemoHistory,
    HistoryErasure,
    OtherInventory,
    RemovedAssets,
    ...importServices,
    { provide: ImportRuns, useClass: ImportRunsTypeorm },
    { provide: TagKeyRepository, useClass: TagKeyRepositoryTypeorm },
  ],
  exports: [
    AssetCounters,
    AssetRekey,
    DemoService,
    DemoHistory,
    HistoryErasure,
    ImportRuns,
    ImportsService,
    OtherInventory,
    RemovedAssets,
    TagKeyRepository,
  ],
})
export class InventoryOperatorModule {}
