import { createHash } from 'node:crypto';
import type { Connection, Pool, PoolClient, Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import type { OutgoingCall } from '../observability/trace';
import { traceCall } from '../observability/tracing';

/** A statement prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Names a statement by a label and a hash of its text, so that no two texts share a name. Postgres keeps 63 letters. */
export const prepared = (label: string, text: string): Statement => ({
  name: `${label}_${createHash('sha256').update(text).digest('hex').slice(0, 10)}`,
  text,
});

/** The largest portion of the rows of a statement with a budget. Postgres reads none beyond the last portion. */
const LARGEST_PORTION = 128;
/** A page of a list, with a head and one more row, comes at once: each portion more takes a tenth of its time. */
const ONE_PAGE = 102;
/** Of feeds and streams, whose rows may have megabytes: Postgres makes and sends whole portions. */
const FIRST_PORTION = 8;

/** Bounds the rows of one statement by their bytes. A statement has one of its own for each read. */
export class RowBudget {
  /** Whether rows are missing behind those that were kept. */
  isCut = false;
  private bytes = 0;
  private kept = 0;

  /**
   * `rows`: the most that the statement returns. `mostBytes`: rows are dropped once so many bytes came. `fewest`: so many rows
   * are kept, whatever their size. `firstPortion`: so many rows come first, where few may use up the bytes, and then twice as
   * many each time.
   */
  constructor(
    readonly rows: number,
    private readonly mostBytes: number,
    private readonly fewest = 1,
    readonly firstPortion = rows <= ONE_PAGE ? rows : FIRST_PORTION,
  ) {}

  /** Whether the rows have more bytes, with the last one that was kept. */
  get isExceeded(): boolean {
    return this.bytes > this.mostBytes;
  }

  /** A read that lost its connection begins again. */
  begin(): void {
    this.bytes = 0;
    this.kept = 0;
    this.isCut = false;
  }

  /** Whether to keep a row. */
  takes(bytes: number): boolean {
    if (this.bytes >= this.mostBytes && this.kept >= this.fewest) this.isCut = true;
    this.bytes += bytes;
    this.kept += 1;
    return !this.isCut;
  }
}

export interface BoundStatement extends Statement {
  readonly values: readonly (string | null)[];
  /** Bounds the rows by their bytes. Postgres sends all rows of a statement that is not the last of its batch. */
  readonly budget?: RowBudget | undefined;
}

/**
 * Adds values to a statement. Avoids `{ ...statement, values }`: V8 gives such objects individual hidden classes, which
 * slow down every access and survive garbage collection.
 */
export const bind = (
  { name, text }: Statement,
  values: readonly (string | null)[],
  budget?: RowBudget,
): BoundStatement => ({ name, text, values, budget });

/** One row as Postgres sent it: each column in text form, null for NULL. */
export type TextRow = readonly (string | null)[];

/** The parts of node-postgres' connection that its types omit. */
interface WireConnection {
  readonly parsedStatements: Record<string, string | undefined>;
  readonly stream: { write(bytes: Buffer): void };
}

/**
 * Each combination of filters is a statement, of 140 kB in Postgres. Clients can make 14,000, so a connection keeps the first
 * that come and is sent the others in full each time.
 */
const MOST_PREPARED = 256;
const preparedOn = new WeakMap<WireConnection, number>();

/**
 * Connections that lose their prepared statements after each transaction, because a pooler swaps the session behind
 * them.
 */
const unprepared = new WeakSet<PoolClient>();

/** Disables prepared statements on this pool: every statement is sent in full. */
export function sendUnprepared(pool: Pool): void {
  // On every acquire, because the pool may have opened its first connection earlier.
  pool.on('acquire', (client) => unprepared.add(client));
}

/** From here on, a copy takes more time and memory than a system call. */
const LONG_MESSAGE = 250_000;
const EXECUTE = serialize.execute();
const SYNC = serialize.sync();
const portionOf = (rows: number): Buffer => Buffer.concat([serialize.execute({ rows }), serialize.flush()]);
const ALL_ROWS = Buffer.concat([EXECUTE, SYNC]);

/** Describes the call by statement names. Texts and values stay inside the process. */
function describe(statements: readonly Statement[]): OutgoingCall {
  const summary = statements
    .map(({ name }) => name)
    .join(' ')
    .slice(0, 255);
  return {
    name: summary,
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.summary': summary,
      'db.operation.batch.size': statements.length,
    },
  };
}

const unnamed = ({ text, values, budget }: BoundStatement): BoundStatement => bind({ name: '', text }, values, budget);

/**
 * Sends several prepared statements as one batch with a single Sync: one round trip and, by the extended query
 * protocol, one implicit transaction. So a leading `set_config(…, true)` applies to the other statements of the batch
 * and to nothing else.
 */
export class PipelinedStatements implements Submittable {
  /** Set by node-postgres when a query timeout is configured, and by the code that submits the batch. */
  callback: (error: Error | null) => void = () => undefined;

  /** Milliseconds, when shorter than the connection's own timeout. node-postgres reads it. */
  query_timeout?: number;

  private current = 0;
  private hasSync = true;
  private portion = LARGEST_PORTION;
  private readonly parsing: BoundStatement[] = [];

  /**
   * Returns the rows of each statement. Also appends them to `rows` as they arrive, even before an error. After an
   * error the set of prepared statements is unknown, so the connection must be closed.
   */
  static run(
    client: PoolClient,
    statements: readonly BoundStatement[],
    deadline = Infinity,
    rows = statements.map((): TextRow[] => []),
  ): Promise<TextRow[][]> {
    const run = (): Promise<TextRow[][]> =>
      new Promise((resolve, reject) => {
        const batch = new PipelinedStatements(unprepared.has(client) ? statements.map(unnamed) : statements, rows);
        if (deadline < Infinity) batch.query_timeout = Math.max(1, Math.ceil(deadline - performance.now()));
        batch.callback = (error) => (error ? reject(error) : resolve(rows));
        client.query(batch);
      });
    return traceCall(() => describe(statements), run);
  }

  private constructor(
    private statements: readonly BoundStatement[],
    private readonly rows: TextRow[][],
  ) {}

  /** Returns an error, as node-postgres expects, when a name was used for another text. Nothing is sent then. */
  submit(connection: Connection): Error | undefined {
    const wire = connection as unknown as WireConnection;
    const messages: Buffer[] = [];
    if ((preparedOn.get(wire) ?? 0) >= MOST_PREPARED)
      this.statements = this.statements.map((one) => (one.name in wire.parsedStatements ? one : unnamed(one)));
    const last = this.statements.at(-1);
    for (const statement of this.statements) {
      const known = statement.name === '' ? undefined : this.textOf(statement.name, wire);
      if (known === undefined) {
        messages.push(serialize.parse({ name: statement.name, text: statement.text }));
        this.parsing.push(statement);
      } else if (known !== statement.text) return new Error(`Two statements share the name ${statement.name}.`);
      messages.push(serialize.bind({ statement: statement.name, values: [...statement.values] }));
      if (statement !== last) messages.push(EXECUTE);
      statement.budget?.begin();
    }
    const budget = last?.budget;
    this.portion = budget?.firstPortion ?? LARGEST_PORTION;
    this.hasSync = !budget || budget.rows <= this.portion;
    messages.push(this.hasSync ? ALL_ROWS : portionOf(this.portion));
    // One write for the whole batch: a system call costs more than most statements.
    const isLong = messages.some(({ length }) => length > LONG_MESSAGE);
    for (const bytes of isLong ? messages : [Buffer.concat(messages)]) wire.stream.write(bytes);
    return undefined;
  }

  handleDataRow(message: { readonly fields: (string | null)[]; readonly length: number }): void {
    const budget = this.statements[this.current]?.budget;
    if (!budget || budget.takes(message.length)) this.rows[this.current]?.push(message.fields);
  }

  handleCommandComplete(_message: unknown, connection: Connection): void {
    this.rememberParsed(connection);
    this.current += 1;
    if (!this.hasSync && this.current === this.statements.length) this.sync(connection);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** Between two portions the event loop serves other requests. */
  handlePortalSuspended(connection: Connection): void {
    this.rememberParsed(connection);
    if (this.statements[this.current]?.budget?.isCut) return this.sync(connection);
    this.portion = Math.min(2 * this.portion, LARGEST_PORTION);
    setImmediate(() => (connection as unknown as WireConnection).stream.write(portionOf(this.portion)));
  }

  /** Ends the batch, and with it a statement of which no more rows are wanted. */
  private sync(connection: Connection): void {
    this.hasSync = true;
    (connection as unknown as WireConnection).stream.write(SYNC);
  }

  /** An execution proves that the statement was parsed. Only then may the connection reuse the name. */
  private rememberParsed(connection: Connection): void {
    const statement = this.statements[this.current];
    const wire = connection as unknown as WireConnection;
    if (!statement || statement.name === '' || statement.name in wire.parsedStatements) return;
    wire.parsedStatements[statement.name] = statement.text;
    preparedOn.set(wire, (preparedOn.get(wire) ?? 0) + 1);
  }

  /** The text that the connection has, or will have by then, under a name. */
  private textOf(name: string, { parsedStatements }: WireConnection): string | undefined {
    return parsedStatements[name] ?? this.parsing.find((other) => other.name === name)?.text;
  }
}
