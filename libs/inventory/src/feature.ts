import type { Feature } from '#libs/platform';
import { inventorySchema } from './assets/typeorm/schema';
import { historySchema } from './history/typeorm/schema';
import { importsSchema } from './imports/typeorm/schema';

export const inventory: Feature = {
  schema: {
    entities: [...inventorySchema.entities, ...importsSchema.entities, ...historySchema.entities],
    migrations: [...inventorySchema.migrations, ...importsSchema.migrations, ...historySchema.migrations],
    grants: [...inventorySchema.grants, ...importsSchema.grants, ...historySchema.grants],
    consoleGrants: [inventorySchema, importsSchema, historySchema].flatMap((part) => part.consoleGrants ?? []),
  },
  api: async () => (await import('#libs/inventory/module')).InventoryModule,
  tag: { name: 'Inventory', description: 'Assets, their categories and their governance metadata.' },
};
