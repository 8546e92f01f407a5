import type { Type } from '@nestjs/common';
import { AuditOperatorModule, auditSchema } from '#libs/audit/operators';
import { AuthOperatorModule, authSchema } from '#libs/auth/operators';
import { computersSchema } from '#libs/computers/operators';
import { InventoryOperatorModule, inventorySchema } from '#libs/inventory/operators';
import { changesSchema } from '#libs/platform/changes';
import type { SchemaPart } from '#libs/platform/database';
import { idempotencySchema } from '#libs/platform/idempotency';

export interface Feature {
  /** Migrations, and privileges of the runtime role. */
  readonly schema: SchemaPart;
  /** Loads the routes. Only the API does, so the command line starts without them. */
  readonly api: () => Promise<Type>;
  /** Services for the command line. */
  readonly operators?: Type;
  /** Heading in the contract. */
  readonly tag?: { readonly name: string; readonly description: string };
}

/** The list of features. Routes, schema, grants and the contract's tags derive from it. */
export const FEATURES: readonly Feature[] = [
  {
    schema: authSchema,
    api: async () => (await import('#libs/auth')).AuthModule,
    operators: AuthOperatorModule,
    tag: { name: 'Authentication', description: 'Tokens by the OAuth 2.0 client credentials grant.' },
  },
  {
    schema: auditSchema,
    api: async () => (await import('#libs/audit')).AuditModule,
    operators: AuditOperatorModule,
  },
  {
    schema: inventorySchema,
    api: async () => (await import('#libs/inventory')).InventoryModule,
    operators: InventoryOperatorModule,
    tag: { name: 'Inventory', description: 'Assets, their categories and their governance metadata.' },
  },
  {
    schema: computersSchema,
    api: async () => (await import('#libs/computers')).ComputersModule,
    tag: { name: 'Computers', description: 'Monitored computers and their posture.' },
  },
];

/** The schema of this release: the platform's tables and those of the features. */
export const schema: readonly SchemaPart[] = [
  idempotencySchema,
  changesSchema,
  ...FEATURES.map((feature) => feature.schema),
];

/** The entity classes of all tables. */
export const entities = schema.flatMap((part) => part.entities);
