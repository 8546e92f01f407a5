export { InventoryModule } from './inventory.module';
