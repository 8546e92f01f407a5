import type { Feature } from '#libs/platform';
import { inventorySchema } from './assets/typeorm/schema';

export const inventory: Feature = {
  schema: inventorySchema,
  api: async () => (await import('#libs/inventory/module')).InventoryModule,
  tag: { name: 'Inventory', description: 'Assets, their categories and their governance metadata.' },
};
