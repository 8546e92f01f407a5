import type { QueryRunner } from 'typeorm';

/** What one table lets the runtime role do, as the list of privileges of a GRANT: `SELECT, INSERT, UPDATE (name)`. */
export interface TableGrant {
  readonly table: string;
  readonly privileges: string;
}

/** The part of the schema that one feature owns. */
export interface SchemaPart {
  /** TypeORM migrations, oldest first. Class names end in a timestamp of 13 digits, which orders them across features. */
  readonly migrations: readonly (new () => {
    up(runner: QueryRunner): Promise<void>;
    down(runner: QueryRunner): Promise<void>;
  })[];
  /** Everything the runtime role may do to the feature's tables. What is not listed is revoked. */
  readonly grants: readonly TableGrant[];
}
