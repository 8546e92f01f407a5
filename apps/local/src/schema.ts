import { authSchema } from '#libs/auth';
import { computersSchema } from '#libs/computers';
import { inventorySchema } from '#libs/inventory';
import { type SchemaPart, idempotencySchema } from '#libs/platform';

/** The schema that this release works with, as in the other apps. */
export const schema: readonly SchemaPart[] = [idempotencySchema, authSchema, inventorySchema, computersSchema];
