import type { Feature } from '#libs/platform';
import { inventorySchema } from './assets/typeorm/schema';
import { importsSchema } from './imports/typeorm/schema';

export const inventory: Feature = {
  schema: {
    entities: [...inventorySchema.entities, ...importsSchema.entities],
    migrations: [...inventorySchema.migrations, ...importsSchema.migrations],
    grants: [...inventorySchema.grants, ...importsSchema.grants],
    consoleGrants: [inventorySchema, importsSchema].flatMap((part) => part.consoleGrants ?? []),
  },
  api: async () => (await import('#libs/inventory/module')).InventoryModule,
  tag: { name: 'Inventory', description: 'Assets, their categories and their governance metadata.' },
};
