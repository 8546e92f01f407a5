import type { Pool, PoolClient } from 'pg';
import { type BoundStatement, PipelinedStatements, type TextRow } from './pipelined-statements';

const BEGIN: BoundStatement = { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED', values: [] };
const COMMIT: BoundStatement = { name: 'commit', text: 'COMMIT', values: [] };

/** Postgres answered, if only to refuse: its errors carry a SQLSTATE of five characters, a lost connection's do not. */
const answered = (error: unknown): boolean => /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code));

/**
 * One transaction on one connection, in as few round trips as its dependencies allow: it begins with the first batch
 * that is run, and what is only written travels with the next batch or with the commit. Takes no connection before then.
 */
export class UnitOfWork {
  private client: PoolClient | null = null;
  private readonly waiting: BoundStatement[] = [];
  private open = true;
  private failed = false;
  private lastSent: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    private readonly scope: BoundStatement,
  ) {}

  belongsTo(scope: BoundStatement): boolean {
    return scope.name === this.scope.name && scope.values[0] === this.scope.values[0];
  }

  /** Runs the statements after everything written so far; the rows of each, in the order sent. */
  async run(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    this.assertOpen();
    const rows = await this.send([...this.waiting.splice(0), ...statements]);
    return rows.slice(rows.length - statements.length);
  }

  /** Keeps statements whose rows nobody reads until the next batch or the commit. */
  write(statements: readonly BoundStatement[]): void {
    this.assertOpen();
    this.waiting.push(...statements);
  }

  /** Sends what still waits, and COMMIT behind it: an error of either leaves nothing applied, a lost connection doubt. */
  async commit(): Promise<void> {
    this.assertOpen();
    this.open = false;
    if (!this.client && this.waiting.length === 0) return;
    await this.send([...this.waiting.splice(0), COMMIT]);
    this.client?.release();
    this.client = null;
  }

  /** Never throws: a connection that cannot be rolled back is closed, and Postgres rolls back by itself. */
  async rollback(cause?: unknown): Promise<void> {
    this.open = false;
    await this.lastSent;
    const { client } = this;
    if (!client) return;
    this.client = null;
    // Which of a failed batch's statements the server still has prepared is not known: the connection is given up.
    let spoilt = this.failed;
    // After a refusal locks are given back before anybody is told; of a connection that is silent nothing is awaited.
    if (!this.failed || answered(cause)) await client.query('ROLLBACK').catch(() => (spoilt = true));
    client.release(spoilt);
  }

  /** One batch after the other: of several that come at once only the first begins the transaction. */
  private async send(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    const sent = this.lastSent.then(() => this.sendNow(statements));
    this.lastSent = sent.catch(() => undefined);
    return sent;
  }

  private async sendNow(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    const opening = this.client ? [] : [BEGIN, this.scope];
    this.client ??= await this.pool.connect();
    try {
      const rows = await PipelinedStatements.run(this.client, [...opening, ...statements]);
      return rows.slice(opening.length);
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  private assertOpen(): void {
    if (!this.open) throw new Error('The unit of work has ended; something it started still uses it.');
  }
}
