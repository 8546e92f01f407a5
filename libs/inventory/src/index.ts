export { DemoService } from './application/demo.service';
export { type ImportOptions, ImportsService } from './application/imports.service';
export { TagKeysService } from './application/tag-keys.service';
export { DEMO_SIZES, type DemoSize } from './domain/demo-inventory';
export { type ImportError, type ImportProgress, type ImportReport } from './domain/import-report';
export { ImportAlreadyRunning } from './domain/import-store.port';
export { type TagKey } from './domain/tag-key';
export { InventoryModule, InventoryOperatorModule } from './inventory.module';
export { inventorySchema } from './typeorm/schema';
