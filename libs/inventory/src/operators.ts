export {
  type CountersProgress,
  type CountersReport,
  FacetCountersService,
} from './assets/application/facet-counters.service';
export { RemovedAssets } from './changes/typeorm/removed-assets';
export { DemoService } from './imports/application/demo.service';
export { type ImportOptions, ImportsService } from './imports/application/imports.service';
export { type DemoSize } from './imports/domain/demo-inventory';
export { type BadLine, type ImportReport } from './imports/domain/import-report';
export { ImportAlreadyRunning } from './imports/domain/import-store.port';
export { InventoryOperatorModule } from './inventory-operator.module';
export { TagKeysService } from './tag-keys/application/tag-keys.service';
export { type TagKey } from './tag-keys/domain/tag-key';
