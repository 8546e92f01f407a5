import { type SqlStatement, partsOf, statementsOf } from './sql-statements';

/** A migration with all queries that it sends, in order. */
export interface RecordedMigration {
  readonly name: string;
  /** False when Postgres commits each query separately, as CONCURRENTLY requires. */
  readonly transaction: boolean;
  readonly queries: readonly string[];
}

const TABLE = String.raw`(?:IF EXISTS )?(?:ONLY )?(?:PUBLIC\.)?(\w+)(?: \*)?`;
const CREATE_TABLE = /^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(?:PUBLIC\.)?(\w+)/;
const CREATE_INDEX =
  /^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(?:IF NOT EXISTS )?(?:(\w+) )?ON (?:ONLY )?(?:PUBLIC\.)?(\w+)/;
const DROP_CONCURRENTLY = /^DROP INDEX CONCURRENTLY IF EXISTS (\w+)/;
const ALTER_TABLE = new RegExp(`^ALTER TABLE ${TABLE} (.*)$`);
const ROWS = /^(?:WITH|UPDATE|DELETE|MERGE|INSERT)\b/;
const CHANGE_ROWS = new RegExp(String.raw`\b(UPDATE|DELETE FROM|MERGE INTO) ${TABLE}`, 'g');
const COPY_ROWS = new RegExp(String.raw`\b(?:INTO|FROM|JOIN) ${TABLE}`, 'g');
const WHOLE_TABLES = /^(LOCK|TRUNCATE)\b/;
const REWRITES = /^(CLUSTER\b|VACUUM (?:FULL\b|\([^)]*\bFULL\b)|ALTER .*\bSET TABLESPACE\b)/;
/** Excludes indexes, which have their own rules, and revokes from PUBLIC, a role that serves no requests. */
const TAKES_AWAY = /^(?:DROP (?!INDEX\b)\w+|REVOKE\b(?!.* FROM PUBLIC$)|ALTER TYPE .*\b(?:DROP|ALTER) ATTRIBUTE\b)/;
const RENAMES = /^ALTER .*\b(?:RENAME|SET SCHEMA)\b/;
const READS_EVERY_TABLE_OF = /^ALTER DOMAIN .*\b(?:SET NOT NULL|ADD (?:CONSTRAINT|CHECK)\b(?!.*\bNOT VALID\b))/;
const LOCK_TIMEOUT = /^(?:SET (?:LOCAL |SESSION )?|RESET )LOCK_TIMEOUT|\bSET_CONFIG ?\(/;
/** Defaults that need no access to existing rows: constants, and functions that Postgres calls once for all rows. */
const CHEAP_CALLS = /\bNOW\(\)|\b(?:CURRENT_TIMESTAMP|LOCALTIMESTAMP)\(\d\)/g;

/** Finds faults that would disturb a running release during an upgrade. Each message names an alternative. */
export class MigrationRules {
  private readonly created = new Set<string>();
  private readonly dropped = new Set<string>();

  private constructor(
    private readonly migration: RecordedMigration,
    private readonly existing: ReadonlySet<string>,
  ) {}

  /** Returns the faults of one migration when the previous release uses these tables. */
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
    if (/^DO\b/.test(text)) {
      if (bodies.length === 0) return [`a body in plain quotes: nobody checks it; quote it by $$ (${text})`];
      return bodies.flatMap((body) => this.checkBody(body));
    }
    const made = CREATE_TABLE.exec(text)?.[1];
    // IF NOT EXISTS does not recreate an existing table.
    if (made !== undefined && !this.existing.has(made.toLowerCase())) this.created.add(made);
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
    if (/^ALTER (COLUMN )?\w+ ((SET DATA )?TYPE|SET EXPRESSION)\b/.test(action))
      return ['a change of type rewrites the table: add a column'];
    if (/^(DISABLE (TRIGGER|RULE|ROW)|NO FORCE)\b/.test(action)) return ['the release before counts on it'];
    if (/^SET (LOGGED|UNLOGGED|TABLESPACE|ACCESS METHOD)\b/.test(action)) return ['rewrites the table'];
    const takesAway = /^(DROP (COLUMN )?(?!(CONSTRAINT|IDENTITY|EXPRESSION)\b)\w+|ALTER (COLUMN )?\w+ DROP DEFAULT)/;
    if (takesAway.test(action) && !isMarked(comments, 'contract')) {
      return ['the release before may still use the column: -- contract: since which release nothing does'];
    }
    if (/^ADD (CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY|EXCLUDE)\b/.test(action)) return constraintFaults(action);
    const [, column] = /^ADD (?:COLUMN )?(?:IF NOT EXISTS )?(.*)$/.exec(action) ?? [];
    return column === undefined ? [] : columnFaults(column);
  }

  private rowFaults({ text, comments }: SqlStatement): string[] {
    if (ROWS.test(text) && !isMarked(comments, 'small')) {
      const changes = [...text.matchAll(CHANGE_ROWS)].find(([, , table]) => this.isInUse(table))?.[1];
      const copies = /\bINSERT INTO .*\bSELECT\b/.test(text) && this.namesOneInUse(text.matchAll(COPY_ROWS));
      const verb = changes ?? (copies ? 'INSERT … SELECT' : null);
      if (verb !== null)
        return [
          `${verb} in a migration locks what it changes until the end: backfill in batches, or -- small: how few`,
        ];
    }
    const [, order] = WHOLE_TABLES.exec(text) ?? [];
    const isBrief = order === 'LOCK' && isMarked(comments, 'brief');
    if (order !== undefined && !isBrief && this.namesOneInUse(text.matchAll(/(\w+)/g)))
      return [`${order} keeps everybody else out`];
    if (REWRITES.test(text)) return ['rewrites what it names and keeps everybody else out'];
    if (READS_EVERY_TABLE_OF.test(text))
      return ['reads every table that has a column of it: NOT VALID, validated later'];
    return LOCK_TIMEOUT.test(text) && this.migration.transaction
      ? ['the time to wait for a lock is not for a migration to choose']
      : [];
  }

  private namesOneInUse(named: Iterable<RegExpExecArray>): boolean {
    return [...named].some(([, table]) => this.isInUse(table));
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
  if (/\bGENERATED\b|\b(BIG|SMALL)?SERIAL[248]?\b/.test(column)) return ['a generated column rewrites the table'];
  const [, value] = /\bDEFAULT (.*)$/.exec(column) ?? [];
  if (value === undefined) return /\bNOT NULL\b/.test(column) ? ['NOT NULL without a default cannot be added'] : [];
  return /\w\(/.test(value.replace(CHEAP_CALLS, '')) ? ['a default that differs from row to row: backfill it'] : [];
}
