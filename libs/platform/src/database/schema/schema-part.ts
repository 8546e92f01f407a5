import type { QueryRunner } from 'typeorm';

/** Rights of a role, beginning with privileges on one table as in a GRANT: `SELECT, INSERT, UPDATE (name)`. */
export type Grant =
  | { readonly table: string; readonly privileges: string }
  | { readonly function: string }
  | { readonly sequence: string }
  /** Imports need temporary tables. They could hide ours from the role itself, never from functions with the owner's rights. */
  | { readonly database: 'TEMPORARY' };

/** The part of the schema that one feature owns. */
export interface SchemaPart {
  /** A TypeORM entity class for each table: the one place that names its columns and their types. */
  readonly entities: readonly (new () => object)[];
  /**
   * TypeORM migrations, oldest first. Class names end in a timestamp of 13 digits, which orders them across features.
   */
  readonly migrations: readonly (new () => {
    up(runner: QueryRunner): Promise<void>;
    down(runner: QueryRunner): Promise<void>;
  })[];
  /** Every privilege of the runtime role on the feature's objects. Other privileges on tables and sequences are revoked. */
  readonly grants: readonly Grant[];
  /** Every privilege of the console's role on the feature's objects. */
  readonly consoleGrants?: readonly Grant[];
}
