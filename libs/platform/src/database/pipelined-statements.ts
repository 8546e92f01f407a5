import type { Connection, Pool, PoolClient, Submittable } from 'pg';
import { serialize } from 'pg-protocol';
import type { OutgoingCall } from '../observability/trace';
import { traceCall } from '../observability/tracing';

/** A statement prepared once per connection under its name. The name must change whenever the text does. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface BoundStatement extends Statement {
  readonly values: readonly (string | null)[];
}

/**
 * A statement with its values. Not by `{ ...statement, values }`: V8 gives each object that begins with a spread and has
 * more behind it a hidden class of its own, which every later access pays for and garbage collection promotes.
 */
export const bind = ({ name, text }: Statement, values: readonly (string | null)[]): BoundStatement => ({
  name,
  text,
  values,
});

/** One row as Postgres sent it: the text form of each column, null for NULL. */
export type TextRow = readonly (string | null)[];

/** The parts of node-postgres' connection that its types leave out. */
interface WireConnection {
  readonly parsedStatements: Record<string, string | undefined>;
  readonly stream: { write(bytes: Buffer): void };
}

/** Connections on which a statement is gone after its transaction: what is behind them changes. */
const unprepared = new WeakSet<PoolClient>();

/** Names no statement on connections of this pool: each is sent in full every time. */
export function sendUnprepared(pool: Pool): void {
  // At every use, because a pool may have opened its first connection before.
  pool.on('acquire', (client) => unprepared.add(client));
}

const EXECUTE = serialize.execute();
const SYNC = serialize.sync();

/** By the names of the statements, which say what they are for: neither texts nor values leave the process. */
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

const unnamed = ({ text, values }: BoundStatement): BoundStatement => bind({ name: '', text }, values);

/**
 * Several prepared statements sent as one batch that ends in a single Sync: one round trip and, by the extended query
 * protocol, one implicit transaction. So a `set_config(…, true)` at its head holds for the statements behind it and for
 * nothing else on the connection.
 */
export class PipelinedStatements implements Submittable {
  /** Set by node-postgres when a query timeout is configured, and by whoever submits the batch. */
  callback: (error: Error | null) => void = () => undefined;

  /** Milliseconds, where it is less than the connection's own patience; node-postgres heeds it. */
  query_timeout?: number;

  private current = 0;
  private readonly parsing: BoundStatement[] = [];

  /**
   * Gives the rows of each statement; puts them into `rows` as they come, also before an error. After an error it is not
   * known which statements the connection has prepared: give it up.
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
    private readonly statements: readonly BoundStatement[],
    private readonly rows: TextRow[][],
  ) {}

  submit(connection: Connection): void {
    const wire = connection as unknown as WireConnection;
    const messages: Buffer[] = [];
    for (const statement of this.statements) {
      if (statement.name === '') messages.push(serialize.parse(statement));
      else if (wire.parsedStatements[statement.name] === undefined && !this.isBeingParsed(statement)) {
        messages.push(serialize.parse({ name: statement.name, text: statement.text }));
        this.parsing.push(statement);
      }
      messages.push(serialize.bind({ statement: statement.name, values: [...statement.values] }), EXECUTE);
    }
    // One write for all: what a system call costs is more than what most of the statements do.
    wire.stream.write(Buffer.concat([...messages, SYNC]));
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    this.rows[this.current]?.push(message.fields);
  }

  handleCommandComplete(_message: unknown, connection: Connection): void {
    // A completed execution proves that its statement was parsed; only then may the connection reuse the name.
    const statement = this.statements[this.current];
    if (statement && statement.name !== '')
      (connection as unknown as WireConnection).parsedStatements[statement.name] = statement.text;
    this.current += 1;
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleRowDescription(): void {
    // Columns are read by position: no description was asked for.
  }

  handlePortalSuspended(): void {
    // Cannot come: no row limit is sent.
  }

  handleEmptyQuery(): void {
    // Cannot come: no statement is empty.
  }

  private isBeingParsed(statement: Statement): boolean {
    return this.parsing.some((other) => other.name === statement.name);
  }
}
