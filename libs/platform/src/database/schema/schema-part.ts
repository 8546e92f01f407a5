import type { QueryRunner } from 'typeorm';

/** Privileges of the runtime role on one table, as in a GRANT: `SELECT, INSERT, UPDATE (name)`. */
export interface TableGrant {
  readonly table: string;
  readonly privileges: string;
}

/** A database function that the runtime role may call. */
export interface FunctionGrant {
  readonly function: string;
}

/** A sequence that the runtime role may draw numbers from. */
export interface SequenceGrant {
  readonly sequence: string;
}

/** Temporary tables, which imports need. They could hide ours from the role itself, never from functions with the owner's rights. */
export interface DatabaseGrant {
  readonly database: 'TEMPORARY';
}

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
  readonly grants: readonly (TableGrant | FunctionGrant | SequenceGrant)[];
  /** Every privilege of the console's role on the feature's objects. */
  readonly consoleGrants?: readonly (TableGrant | FunctionGrant | SequenceGrant | DatabaseGrant)[];
}
