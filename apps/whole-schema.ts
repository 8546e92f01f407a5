import { consoleSchema } from '#libs/console/feature';
import type { SchemaPart } from '#libs/platform/database';
import { schema as apiSchema } from './features';

/** The schema of all processes, which migrations and grants take. The API knows its own part only. */
export const schema: readonly SchemaPart[] = [...apiSchema, consoleSchema];

/** The entity classes of all tables. */
export const entities = schema.flatMap((part) => part.entities);
