import type { QueryRunner } from 'typeorm';

/** What one table lets the runtime role do, as the list of privileges of a GRANT: `SELECT, INSERT, UPDATE (name)`. */
export interface TableGrant {
  readonly table: string;
  readonly privileges: string;
}

/** A function of the database that the runtime role may call. */
export interface FunctionGrant {
  readonly function: string;
}

/** The part of the schema that one feature owns. */
export interface SchemaPart {
  /** TypeORM migrations, oldest first. Class names end in a timestamp of 13 digits, which orders them across features. */
  readonly migrations: readonly (new () => {
    up(runner: QueryRunner): Promise<void>;
    down(runner: QueryRunner): Promise<void>;
  })[];
  /** Everything the runtime role may do with the feature's tables and functions. Of tables, what is not listed is revoked. */
  readonly grants: readonly (TableGrant | FunctionGrant)[];
}
