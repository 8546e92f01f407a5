import { Module } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import { Metrics, Settings, SystemClock, readSecretFileSync } from '#libs/platform';
import { AssetsService } from './application/assets.service';
import { AuditService } from './application/audit.service';
import { CategoriesService } from './application/categories.service';
import { DemoService } from './application/demo.service';
import { FacetCountersService } from './application/facet-counters.service';
import { ImportsService } from './application/imports.service';
import { TagKeysService } from './application/tag-keys.service';
import { AssetRepository } from './domain/asset-repository.port';
import { AuditEvidence } from './domain/audit-evidence.port';
import { AuditSealStore } from './domain/audit-seal-store.port';
import { AuditTrail } from './domain/audit-trail.port';
import { FacetCounters } from './domain/facet-counters.port';
import { ImportFiles } from './domain/import-files.port';
import { ImportStore } from './domain/import-store.port';
import { TagKeyRepository } from './domain/tag-key-repository.port';
import { AssetsController } from './http/assets.controller';
import { CategoriesController } from './http/categories.controller';
import { AuditEvidenceSystem } from './system/audit-evidence.system';
import { AuditSealer } from './system/audit-sealer';
import { watchSealing } from './system/audit-sealing-metrics';
import { ImportFilesSystem } from './system/import-files.system';
import { AssetRepositoryTypeorm } from './typeorm/asset-repository.typeorm';
import { AuditRecorder } from './typeorm/audit-recorder';
import { AuditSealStoreTypeorm } from './typeorm/audit-seal-store.typeorm';
import { AuditTrailTypeorm } from './typeorm/audit-trail.typeorm';
import { FacetCountersTypeorm } from './typeorm/facet-counters.typeorm';
import { ImportStoreTypeorm } from './typeorm/import-store.typeorm';
import { TagKeyRepositoryTypeorm } from './typeorm/tag-key-repository.typeorm';

const auditEvidence = {
  provide: AuditEvidence,
  useFactory: (settings: Settings) => new AuditEvidenceSystem(readSecretFileSync(settings.auditKeyFile)),
  inject: [Settings],
};

/** The inventory as clients read it. */
@Module({
  controllers: [CategoriesController, AssetsController],
  providers: [
    AssetsService,
    CategoriesService,
    { provide: AssetRepository, useClass: AssetRepositoryTypeorm },
    { provide: Clock, useClass: SystemClock },
    auditEvidence,
    AuditRecorder,
    { provide: AuditSealStore, useClass: AuditSealStoreTypeorm },
    {
      provide: AuditSealer,
      useFactory: (store: AuditSealStore, evidence: AuditEvidence, clock: Clock, metrics: Metrics) => {
        const sealer = new AuditSealer(store, evidence, clock);
        watchSealing(metrics, sealer);
        return sealer;
      },
      inject: [AuditSealStore, AuditEvidence, Clock, Metrics],
    },
  ],
})
export class InventoryModule {}

/** How operators bring the inventory in. */
@Module({
  providers: [
    AuditService,
    DemoService,
    FacetCountersService,
    ImportsService,
    TagKeysService,
    auditEvidence,
    { provide: AuditTrail, useClass: AuditTrailTypeorm },
    { provide: FacetCounters, useClass: FacetCountersTypeorm },
    { provide: ImportFiles, useClass: ImportFilesSystem },
    { provide: ImportStore, useClass: ImportStoreTypeorm },
    { provide: TagKeyRepository, useClass: TagKeyRepositoryTypeorm },
  ],
  exports: [AuditService, DemoService, FacetCountersService, ImportsService, TagKeysService],
})
export class InventoryOperatorModule {}
