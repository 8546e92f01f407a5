import { authSchema } from '#libs/auth';
import { computersSchema } from '#libs/computers';
import { inventorySchema } from '#libs/inventory';
import type { SchemaPart } from '#libs/platform';

/** The schema that this release works with. */
export const schema: readonly SchemaPart[] = [authSchema, inventorySchema, computersSchema];
