import { type SqlStatement, partsOf, statementsOf } from './sql-statements';

/** A migration as it is run: every query that it sends, in order. */
export interface RecordedMigration {
  readonly name: string;
  /** False: Postgres commits each query by itself, as CONCURRENTLY needs it. */
  readonly transaction: boolean;
  readonly queries: readonly string[];
}

const TABLE = String.raw`(?:ONLY )?(?:IF EXISTS )?(?:PUBLIC\.)?(\w+)`;
const CREATE_TABLE = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(?:PUBLIC\.)?(\w+)/;
const CREATE_INDEX =
  /^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?(\w+) ON (?:ONLY )?(?:PUBLIC\.)?(\w+)/;
const DROP_CONCURRENTLY = /^DROP INDEX CONCURRENTLY IF EXISTS (\w+)/;
const ALTER_TABLE = new RegExp(`^ALTER TABLE ${TABLE} (.*)$`);
const CHANGE_ROWS = new RegExp(`^(UPDATE|DELETE FROM) ${TABLE}`);
const WHOLE_TABLE = new RegExp(`^(LOCK(?: TABLE)?|TRUNCATE(?: TABLE)?|CLUSTER|VACUUM FULL) ${TABLE}`);
const TAKES_AWAY = /^DROP (TABLE|VIEW|MATERIALIZED VIEW|FUNCTION|PROCEDURE|TYPE|SEQUENCE|SCHEMA)\b/;
const RENAMES = /^ALTER (?:TABLE|VIEW|INDEX|FUNCTION|TYPE) .*\bRENAME\b/;
/** What does not need the rows that are there: a constant, or a function that Postgres calls once for all of them. */
const CHEAP_DEFAULT = /^(?:NOW\(\)|CURRENT_TIMESTAMP|CURRENT_DATE)/;

/** What may be wrong in a release that replaces a running one; each says what to do instead. */
export class MigrationRules {
  private readonly created = new Set<string>();
  private readonly dropped = new Set<string>();

  private constructor(
    private readonly migration: RecordedMigration,
    private readonly existing: ReadonlySet<string>,
  ) {}

  /** The faults of one migration where these tables are in use by the release before. */
  static faultsOf(migration: RecordedMigration, existing: ReadonlySet<string>): string[] {
    const rules = new MigrationRules(migration, existing);
    return migration.queries.flatMap((query) => {
      const statements = statementsOf(query);
      const grouped = statements.length > 1 && statements.some(({ text }) => text.includes(' CONCURRENTLY '));
      return [
        ...(grouped ? ['CONCURRENTLY among other statements: give it a query of its own'] : []),
        ...statements.flatMap((statement) => rules.check(statement)),
      ];
    });
  }

  static tablesMadeBy({ queries }: RecordedMigration): string[] {
    return queries
      .flatMap(statementsOf)
      .flatMap(({ text }) => CREATE_TABLE.exec(text)?.[1] ?? [])
      .map((table) => table.toLowerCase());
  }

  private check(statement: SqlStatement): string[] {
    const { text, bodies } = statement;
    if (text.startsWith('DO ')) return bodies.flatMap((body) => this.checkBody(body));
    const made = CREATE_TABLE.exec(text)?.[1];
    if (made !== undefined) this.created.add(made);
    const faults = [
      ...this.indexFaults(text),
      ...this.alterationFaults(statement),
      ...this.rowFaults(statement),
      ...this.removalFaults(statement),
    ];
    return faults.map((fault) => `${fault} (${text.slice(0, 100)})`);
  }

  private checkBody(body: string): string[] {
    if (/\bEXECUTE\b/i.test(body)) return ['EXECUTE within DO: nobody can check what it runs; send it as a query'];
    return statementsOf(body.replace(/\b(BEGIN|THEN|ELSE|LOOP)\b/gi, ';')).flatMap((inner) => this.check(inner));
  }

  private isInUse(table: string | undefined): boolean {
    return table !== undefined && !this.created.has(table) && this.existing.has(table.toLowerCase());
  }

  private indexFaults(text: string): string[] {
    const dropped = DROP_CONCURRENTLY.exec(text)?.[1];
    if (dropped !== undefined) this.dropped.add(dropped);
    const concurrent = text.includes(' CONCURRENTLY ');
    if (concurrent && this.migration.transaction) return ['CONCURRENTLY in a transaction: set `transaction = false`'];
    if (!concurrent && /^(DROP INDEX|REINDEX|REFRESH)\b/.test(text)) return ['blocks its table: add CONCURRENTLY'];
    const [, concurrently, name = '', table] = CREATE_INDEX.exec(text) ?? [];
    if (!this.isInUse(table)) return [];
    if (concurrently === undefined) return ['an index that stops writes while it is built: add CONCURRENTLY'];
    return this.dropped.has(name)
      ? []
      : ['a build that failed leaves an index of no use: before it, DROP INDEX CONCURRENTLY IF EXISTS'];
  }

  private alterationFaults({ text, comments }: SqlStatement): string[] {
    const [, table, actions = ''] = ALTER_TABLE.exec(text) ?? [];
    if (!this.isInUse(table)) return [];
    const faults = partsOf(actions).flatMap((action) => this.actionFaults(action, comments));
    const validates = this.migration.transaction && /\bVALIDATE CONSTRAINT\b/.test(text);
    const adds = this.migration.queries.some((query) => /\bADD CONSTRAINT\b/i.test(query));
    return validates && adds
      ? [...faults, 'VALIDATE under the lock of ADD: validate in a migration of its own']
      : faults;
  }

  private actionFaults(action: string, comments: readonly string[]): string[] {
    if (/^ALTER (COLUMN )?\w+ SET NOT NULL/.test(action)) {
      return isMarked(comments, 'proved')
        ? []
        : ['SET NOT NULL reads the whole table: have a validated CHECK prove it, and say so: -- proved: by which'];
    }
    if (/^ALTER (COLUMN )?\w+ (SET DATA )?TYPE\b/.test(action))
      return ['a change of type rewrites the table: add a column'];
    if (/^SET (LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b/.test(action)) return ['rewrites the table'];
    if (/^DROP (COLUMN )?(?!CONSTRAINT|IDENTITY|EXPRESSION)\w+/.test(action) && !isMarked(comments, 'contract')) {
      return ['the release before may still use the column: -- contract: since which release nothing does'];
    }
    if (/^ADD (CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)\b/.test(action)) return constraintFaults(action);
    const [, column] = /^ADD (?:COLUMN )?(?:IF NOT EXISTS )?(.*)$/.exec(action) ?? [];
    return column === undefined ? [] : columnFaults(column);
  }

  private rowFaults({ text, comments }: SqlStatement): string[] {
    const [, verb, changed] = CHANGE_ROWS.exec(text) ?? [];
    if (this.isInUse(changed) && !isMarked(comments, 'small')) {
      return [`${verb} in a migration locks what it changes until the end: backfill in batches, or -- small: how few`];
    }
    const [, order, whole] = WHOLE_TABLE.exec(text) ?? [];
    if (this.isInUse(whole)) return [`${order} keeps everybody else out`];
    return /^SET (?:LOCAL |SESSION )?LOCK_TIMEOUT/.test(text) && this.migration.transaction
      ? ['the time to wait for a lock is not for a migration to choose']
      : [];
  }

  private removalFaults({ text, comments }: SqlStatement): string[] {
    if (RENAMES.test(text)) return ['the release before knows the old name only: add the new one beside it'];
    return TAKES_AWAY.test(text) && !isMarked(comments, 'contract')
      ? ['the release before may still use it: -- contract: since which release nothing does']
      : [];
  }
}

function isMarked(comments: readonly string[], word: string): boolean {
  return comments.some((comment) => new RegExp(`^${word}: \\S+ \\S+`).test(comment));
}

function constraintFaults(action: string): string[] {
  if (/\b(UNIQUE|PRIMARY KEY)\b/.test(action)) {
    return / USING INDEX /.test(action) ? [] : ['builds its index under lock: build it CONCURRENTLY, then USING INDEX'];
  }
  return /\bNOT VALID\b/.test(action) ? [] : ['a constraint that reads the whole table: NOT VALID, validated later'];
}

function columnFaults(column: string): string[] {
  if (/\b(UNIQUE|PRIMARY KEY|REFERENCES|CHECK)\b/.test(column))
    return ['add the column first, its constraint NOT VALID'];
  if (/\bGENERATED\b|\b(BIG|SMALL)?SERIAL\b/.test(column)) return ['a generated column rewrites the table'];
  const [, value] = /\bDEFAULT (.*)$/.exec(column) ?? [];
  if (value === undefined) return /\bNOT NULL\b/.test(column) ? ['NOT NULL without a default cannot be added'] : [];
  return /\w\(/.test(value) && !CHEAP_DEFAULT.test(value)
    ? ['a default that differs from row to row: backfill it']
    : [];
}
