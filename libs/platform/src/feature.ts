import type { Type } from '@nestjs/common';
import type { SchemaPart } from './database/schema/schema-part';
import type { SecretFile } from './keys/secret-files';

/** A feature as it announces itself in its `feature.ts`. */
export interface Feature {
  /** Tables, migrations, and privileges of the runtime role. */
  readonly schema: SchemaPart;
  /** Secrets that `admin keys init` makes. */
  readonly secretFiles?: readonly SecretFile[];
  /** Loads the module with the routes. Only the API does, so the command line starts without them. */
  readonly api: () => Promise<Type>;
  /** Heading in the contract. */
  readonly tag?: { readonly name: string; readonly description: string };
}
