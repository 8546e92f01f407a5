export { InventoryModule } from './inventory.module';
export { inventorySchema } from './typeorm/schema';
