import type { PoolClient } from 'pg';
import type { ConnectionPool } from './connections/connection-pool';
import { type BoundStatement, PipelinedStatements, type TextRow, bind } from './pipelined-statements';

const BEGIN: BoundStatement = { name: 'begin', text: 'BEGIN ISOLATION LEVEL READ COMMITTED', values: [] };
const COMMIT: BoundStatement = { name: 'commit', text: 'COMMIT', values: [] };

/** Maximum wait for a connection, a lock (as data-source.ts says) and a rollback. */
const PATIENCE_MS = 2_000;
/** A unit waits this long for Postgres even after its deadline; Postgres itself ends a wait for a lock this long before it. */
const GRACE_MS = 500;
const SET_LOCK_TIMEOUT = { name: 'set_lock_timeout', text: `SELECT set_config('lock_timeout', $1, true)` };

/**
 * What decides whether a unit of work may be at all. Its statements open the first batch, so that asking costs no round
 * trip; what the work sends in the same batch has then been run too, and is rolled back when the gate is closed.
 */
export interface Gate {
  readonly statements: readonly BoundStatement[];
  /** Sees the rows of each statement before the work sees any. What it throws ends the unit, whatever the work does. */
  judge(rows: readonly TextRow[][]): void;
}

/** Thrown by a gate that found nothing to do: the unit is rolled back, and nobody waits for that. */
export abstract class GateClosed extends Error {}

/**
 * An SQL condition, for statements that wait for locks: false where the gate of the same batch told the transaction, by
 * setting `app.gate_closed` to `true`, that it will be rolled back. What ends anyway must not wait.
 */
export const GATE_IS_OPEN = `current_setting('app.gate_closed', true) IS DISTINCT FROM 'true'`;

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
  private asked = false;
  private closed: { readonly by: unknown } | null = null;

  constructor(
    private readonly pool: ConnectionPool,
    private readonly scope: BoundStatement,
    /** When it must be over, by `performance.now()`: what is under way then has a moment yet at most. */
    private readonly deadline: number,
    private readonly gate?: Gate,
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

  /** Asks the gate if no batch has asked it yet. Throws what closes it, again if need be. */
  async passGate(): Promise<void> {
    await this.lastSent;
    if (this.gate && !this.asked && !this.failed) await this.send([]);
    if (this.closed) throw this.closed.by;
  }

  /** Sends what still waits, and COMMIT behind it: an error of either leaves nothing applied, a lost connection doubt. */
  async commit(): Promise<void> {
    this.assertOpen();
    this.open = false;
    await this.lastSent;
    // Somebody swallowed the error of a batch: Postgres would answer the commit by a rollback, and not say so.
    if (this.failed) throw new Error('A statement of the unit of work failed; nothing was kept.');
    if (!this.client && this.waiting.length === 0) return;
    await this.send([...this.waiting.splice(0), COMMIT]);
    if (this.client) this.giveBack(this.client, false);
  }

  /** Never throws: a connection that cannot be rolled back is closed, and Postgres rolls back by itself. */
  async rollback(cause?: unknown): Promise<void> {
    this.open = false;
    await this.lastSent;
    const { client } = this;
    if (!client) return;
    // Which of a failed batch's statements the server still has prepared is not known: the connection is given up.
    let spoilt = this.failed;
    // After a refusal locks are given back before anybody is told; of a connection that is silent nothing is awaited.
    const left = Math.ceil(this.lastMoment() - performance.now());
    const rollback = { text: 'ROLLBACK', query_timeout: Math.min(left, PATIENCE_MS) };
    if (!this.failed || answered(cause)) await client.query(rollback).catch(() => (spoilt = true));
    this.giveBack(client, spoilt);
  }

  /** One batch after the other: of several that come at once only the first begins the transaction. */
  private async send(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    const sent = this.lastSent.then(() => this.sendNow(statements));
    this.lastSent = sent.catch(() => undefined);
    return sent;
  }

  private async sendNow(statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    const opening = this.client ? [] : [BEGIN, this.scope];
    const gate = this.client ? undefined : this.gate;
    if (!this.client) {
      this.client = await this.connect();
      this.asked = gate !== undefined;
      const left = Math.max(50, Math.floor(this.deadline - GRACE_MS - performance.now()));
      if (left < PATIENCE_MS) opening.push(bind(SET_LOCK_TIMEOUT, [`${left}ms`]));
    }
    const asked = gate?.statements ?? [];
    const batch = [...opening, ...asked, ...statements];
    const rows = batch.map((): TextRow[] => []);
    try {
      await PipelinedStatements.run(this.client, batch, this.lastMoment(), rows);
    } catch (error) {
      this.failed = true;
      // The gate's statements come first: their rows may be here although a later statement failed.
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

  /** The deadline, or a moment from now where that is later. */
  private lastMoment(): number {
    return Math.max(this.deadline, performance.now() + GRACE_MS);
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.pool.connectUnit(Math.min(performance.now() + PATIENCE_MS, this.deadline), this.lastMoment());
    } catch (error) {
      // Nobody waits for a connection twice.
      this.failed = true;
      throw error;
    }
  }

  private giveBack(client: PoolClient, spoilt: boolean): void {
    this.client = null;
    this.pool.releaseUnit(client, spoilt);
  }

  private assertOpen(): void {
    if (!this.open) throw new Error('The unit of work has ended; something it started still uses it.');
  }
}
