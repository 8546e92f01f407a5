import type { Feature } from '#libs/platform';
import { inventorySchema } from './assets/typeorm/schema';

export const inventory: Feature = {
  schema: inventorySchema,
  api: async () => (await import('#libs/inventory/module')).InventoryModule,
  operators: async () => (await import('#libs/inventory/operators')).InventoryOperatorModule,
  tag: { name: 'Inventory', description: 'Assets, their categories and their governance metadata.' },
};
