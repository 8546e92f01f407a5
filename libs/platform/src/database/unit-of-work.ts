import { DomainError } from '#libs/kernel';
import type { PoolClient } from 'pg';
import type { ConnectionPool } from './connections/connection-pool';
import { connectionWasLost } from './connections/database-fault';
import { type BoundStatement, PipelinedStatements, type TextRow, bind, prepared } from './pipelined-statements';

const BEGIN = bind(prepared('begin', 'BEGIN ISOLATION LEVEL READ COMMITTED'), []);
const COMMIT = bind(prepared('commit', 'COMMIT'), []);

/** Maximum wait for a connection, a lock (see data-source.ts), the turn of a large unit and a rollback. */
const PATIENCE_MS = 2_000;
/**
 * A unit waits this much longer than its deadline for Postgres. Postgres ends a wait for a lock this long before the
 * deadline.
 */
const GRACE_MS = 500;
const SET_LOCK_TIMEOUT = prepared('set_lock_timeout', `SELECT set_config('lock_timeout', $1, true)`);

/**
 * Decides whether a unit of work may run. Its statements open the first batch, so the check costs no extra round trip.
 * When the gate is closed, statements of the same batch have already run and are rolled back.
 */
export interface Gate {
  readonly statements: readonly BoundStatement[];
  /** Receives the rows before the work does. An error thrown here ends the unit, whatever the work does. */
  judge(rows: readonly TextRow[][]): void;
}

/** Thrown by a gate when there is nothing to do. The unit is rolled back in the background. */
export abstract class GateClosed extends Error {}

/**
 * An SQL condition for statements that wait for locks. False when the gate of the same batch set `app.gate_closed` to
 * `true`: a transaction that will be rolled back must not wait.
 */
export const GATE_IS_OPEN = `current_setting('app.gate_closed', true) IS DISTINCT FROM 'true'`;

/** True for errors that Postgres sent: they carry a SQLSTATE of five characters. Errors of lost connections do not. */
const succeeded = (error: unknown): boolean => /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code));

/**
 * One transaction on one connection, in as few round trips as possible. It begins with the first batch and takes no
 * connection before. Writes without a result travel with the next batch or the commit.
 */
export class UnitOfWork {
  private client: PoolClient | null = null;
  private readonly waiting: BoundStatement[] = [];
  /** Sent behind all others, just before COMMIT. */
  private readonly last: BoundStatement[] = [];
  private open = true;
  private failed = false;
  /** When the connection was lost, if nothing can have been committed. */
  lostBeforeCommit: number | undefined;
  private lastSent: Promise<unknown> = Promise.resolve();
  private asked = false;
  private isLarge = false;
  private closed: { readonly by: unknown } | null = null;

  constructor(
    private readonly pool: ConnectionPool,
    private readonly scope: BoundStatement,
    /** Deadline by `performance.now()`. Running statements get a short grace period after it. */
    private readonly deadline: number,
    private readonly gate?: Gate,
    /** A connection that was opened before this time is not used. */
    private readonly since = -Infinity,
  ) {}

  belongsTo(scope: BoundStatement): boolean {
    return scope.name === this.scope.name && scope.values[0] === this.scope.values[0];
  }

  /**
   * Runs the statements after all earlier writes. Returns the rows of each, in order.
   * `isLarge` announces rows of megabytes, of which the unit writes several times as much. No other large unit runs from then
   * until this one ends. The unit must hold its row locks already, because large units that wait hold theirs.
   * @throws `service_unavailable` when its turn does not come in time
   */
  async run(statements: readonly BoundStatement[], isLarge = false): Promise<TextRow[][]> {
    this.assertOpen();
    const rows = await this.send([...this.waiting.splice(0), ...statements], isLarge);
    return rows.slice(rows.length - statements.length);
  }

  /** Queues statements without results until the next batch or the commit. */
  write(statements: readonly BoundStatement[]): void {
    this.assertOpen();
    this.waiting.push(...statements);
  }

  /** Keeps a statement for the end of the unit, behind everything that is written later too. */
  writeLast(statement: BoundStatement): void {
    this.assertOpen();
    this.last.push(statement);
  }

  /** Asks the gate unless an earlier batch did. @throws the error that closed it, on every call */
  async passGate(): Promise<void> {
    await this.lastSent;
    if (this.gate && !this.asked && !this.failed) await this.send([]);
    if (this.closed) throw this.closed.by;
  }

  /**
   * Sends the queued statements and COMMIT. After an error of Postgres nothing is applied; after a lost connection the
   * outcome is unknown.
   */
  async commit(): Promise<void> {
    this.assertOpen();
    this.open = false;
    await this.lastSent;
    // The work swallowed the error of a batch. Postgres would turn the commit into a rollback without an error.
    if (this.failed) throw new Error('A statement of the unit of work failed; nothing was kept.');
    const statements = [...this.waiting.splice(0), ...this.last.splice(0)];
    if (!this.client && statements.length === 0) return;
    await this.send([...statements, COMMIT]);
    if (this.client) this.giveBack(this.client, false);
  }

  /** Never throws. A connection that cannot roll back is closed, and Postgres then rolls back. */
  async rollback(cause?: unknown): Promise<void> {
    this.open = false;
    await this.lastSent;
    const { client } = this;
    if (!client) return;
    // After a failed batch the set of prepared statements is unknown, so the connection is closed.
    let spoilt = this.failed;
    // After an error of Postgres, wait for the rollback so that locks are free before the client hears of it. Do not
    // wait for a silent connection.
    const left = Math.ceil(this.lastMoment() - performance.now());
    const rollback = { text: 'ROLLBACK', query_timeout: Math.min(left, PATIENCE_MS) };
    if (!this.failed || succeeded(cause)) await client.query(rollback).catch(() => (spoilt = true));
    this.giveBack(client, spoilt);
  }

  /** Sends one batch at a time. Of several concurrent ones only the first begins the transaction. */
  private async send(statements: readonly BoundStatement[], isLarge = false): Promise<TextRow[][]> {
    const sent = this.lastSent.then(() => this.sendNow(statements, isLarge));
    const forget = (): void => undefined;
    // The rows may have megabytes, and the unit keeps this promise until its next batch.
    this.lastSent = sent.then(forget, forget);
    return sent;
  }

  private async sendNow(statements: readonly BoundStatement[], isLarge: boolean): Promise<TextRow[][]> {
    const opening = this.client ? [] : [BEGIN, this.scope];
    const gate = this.client ? undefined : this.gate;
    if (!this.client) {
      this.client = await this.connect();
      this.asked = gate !== undefined;
      const left = Math.max(50, Math.floor(this.deadline - GRACE_MS - performance.now()));
      if (left < PATIENCE_MS) opening.push(bind(SET_LOCK_TIMEOUT, [`${left}ms`]));
    }
    if (isLarge && !this.isLarge) {
      const patienceMs = Math.min(PATIENCE_MS, this.deadline - performance.now());
      await this.pool.largeUnits.acquire(patienceMs).catch(() => {
        throw new DomainError('service_unavailable', 'Other large updates come first. Try again.');
      });
      this.isLarge = true;
    }
    const asked = gate?.statements ?? [];
    const batch = [...opening, ...asked, ...statements];
    const rows = batch.map((): TextRow[] => []);
    try {
      await PipelinedStatements.run(this.client, batch, this.lastMoment(), rows);
    } catch (error) {
      this.failed = true;
      if (this.open && connectionWasLost(error)) this.lostBeforeCommit = performance.now();
      // The gate's statements come first, so their rows may be complete although a later statement failed.
      const heard = rows.slice(opening.length, opening.length + asked.length);
      if (heard.every((found) => found.length > 0)) this.judge(gate, heard);
      throw error;
    }
    rows.splice(0, opening.length);
    this.judge(gate, rows.splice(0, asked.length));
    return rows;
  }

  private judge(gate: Gate | undefined, rows: readonly TextRow[][]): void {
    try {
      gate?.judge(rows);
    } catch (error) {
      this.closed = { by: error };
      throw error;
    }
  }

  /** The deadline, or the grace period from now when that is later. */
  private lastMoment(): number {
    return Math.max(this.deadline, performance.now() + GRACE_MS);
  }

  private async connect(): Promise<PoolClient> {
    const permitDeadline = Math.min(performance.now() + PATIENCE_MS, this.deadline);
    try {
      return await this.pool.connectUnit(permitDeadline, this.lastMoment(), this.since);
    } catch (error) {
      // Do not wait for a connection twice.
      this.failed = true;
      throw error;
    }
  }

  private giveBack(client: PoolClient, spoilt: boolean): void {
    this.client = null;
    if (this.isLarge) this.pool.largeUnits.release();
    this.isLarge = false;
    this.pool.releaseUnit(client, spoilt);
  }

  private assertOpen(): void {
    if (!this.open) throw new Error('The unit of work has ended; something it started still uses it.');
  }
}
