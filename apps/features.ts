import { audit } from '#libs/audit/feature';
import { auth } from '#libs/auth/feature';
import { computers } from '#libs/computers/feature';
import { inventory } from '#libs/inventory/feature';
import type { Feature } from '#libs/platform';
import { changesSchema } from '#libs/platform/changes';
import type { SchemaPart } from '#libs/platform/database';
import { idempotencySchema } from '#libs/platform/idempotency';

/** The list of features. Routes, schema, grants and the contract's tags derive from it. */
export const FEATURES: readonly Feature[] = [auth, audit, inventory, computers];

/** The schema of this release: the platform's tables and those of the features. */
export const schema: readonly SchemaPart[] = [
  idempotencySchema,
  changesSchema,
  ...FEATURES.map((feature) => feature.schema),
];

/** Files of secrets that processes and commands need. */
export const secretFiles = FEATURES.flatMap((feature) => feature.secretFiles ?? []);

/** The entity classes of all tables. */
export const entities = schema.flatMap((part) => part.entities);
