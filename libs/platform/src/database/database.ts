import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DomainError, type Freshness, type WorkspaceId } from '#libs/kernel';
import type { Client } from 'pg';
import {
  DataSource,
  type EntityManager,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { traceCall } from '../observability/tracing';
import { ConnectionPool, type PoolUse, SHORTEST_TRY_MS } from './connections/connection-pool';
import { poolOf } from './connections/data-source';
import { queryTimedOut } from './connections/database-fault';
import { type BoundStatement, type TextRow, bind, prepared } from './pipelined-statements';
import type { StandbyUse } from './connections/standby';
import type { Standbys } from './connections/standbys';
import { type Gate, GateClosed, UnitOfWork } from './unit-of-work';

/**
 * The rows that row-level security shows to a transaction. Either one workspace's rows; or one application's, by client
 * id, before the workspace is known; or none, for the few database functions that work across workspaces.
 */
export type TenantScope =
  { readonly workspaceId: WorkspaceId } | { readonly clientId: string } | { readonly outsideTenants: true };

const SET_WORKSPACE = prepared('set_workspace', `SELECT set_config('app.workspace_id', $1, true)`);
const SET_CLIENT = prepared('set_client', `SELECT set_config('app.client_id', $1, true)`);

const scopeStatement = (scope: TenantScope): BoundStatement => {
  if ('outsideTenants' in scope) return bind(SET_WORKSPACE, ['']);
  if ('workspaceId' in scope) return bind(SET_WORKSPACE, [scope.workspaceId]);
  return bind(SET_CLIENT, [scope.clientId]);
};

const TRANSACTION = { name: 'transaction', attributes: { 'db.system.name': 'postgresql' } };

const CLOCK = prepared('clock', 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint');
/** Clocks that differ by more are not just set a little wrong. */
const CLOCKS_APART_MS = 3_600_000;

/** A row that the work names was deleted meanwhile. */
const VANISHED_SQLSTATES = new Set(['23502', '23503']);
/** Errors that a retry can fix: deadlock, serialization failure, lock timeout, a vanished row. */
const REPEATABLE_SQLSTATES = new Set(['40P01', '40001', '55P03', ...VANISHED_SQLSTATES]);
/** Errors that repeat a transaction with an entity manager. Background work has its own answer to a lock timeout. */
const REPEATABLE_IN_TENANT = new Set(['40P01', '40001', '23503']);
/** Several others may be in the way of each attempt. */
const MAX_REPEATS = 10;
/** Maximum duration of a unit of work, waits included. */
const UNIT_PATIENCE_MS = 5_000;
/**
 * Maximum duration of a read, and of the update that records a token. A request makes at most two of them: five seconds
 * together.
 */
export const READ_PATIENCE_MS = 2_500;

/** The only access to Postgres. Every read and write happens in a tenant's scope. */
@Injectable()
export class Database {
  private readonly pool: ConnectionPool;
  private readonly units = new AsyncLocalStorage<UnitOfWork>();
  private unitsUnderWay = 0;

  constructor(
    private readonly dataSource: DataSource,
    /** Null without standbys. */
    private readonly standbys: Standbys | null = null,
  ) {
    this.pool = new ConnectionPool(poolOf(dataSource));
  }

  get poolUse(): PoolUse {
    return this.pool.use;
  }

  /** One entry for each standby, in the order of their addresses. */
  get standbyUses(): readonly StandbyUse[] {
    return this.standbys?.uses ?? [];
  }

  /**
   * Runs prepared statements in one round trip. Returns the rows of each in order, every column as text.
   * Inside a unit of work they join it. Otherwise they form their own transaction; a given number of milliseconds
   * limits the wait, and after a timeout it is unknown whether they took effect.
   * `isLarge` announces rows of megabytes, as {@link UnitOfWork.run} says.
   */
  async run(
    scope: TenantScope,
    statements: readonly BoundStatement[],
    { patienceMs = Infinity, isLarge = false }: { readonly patienceMs?: number; readonly isLarge?: boolean } = {},
  ): Promise<TextRow[][]> {
    const unit = this.unitFor(scope);
    if (unit) return unit.run(statements, isLarge);
    const rows = await this.pool.run([scopeStatement(scope), ...statements], performance.now() + patienceMs);
    return rows.slice(1);
  }

  /**
   * Like {@link run}, for statements that only read. Data is the newest unless the scope says `recent`, which a standby may
   * serve; the primary takes over when none responds. A read that loses its connection to the primary is repeated once.
   * Takes 2.5 seconds at most.
   */
  async read(
    scope: TenantScope & { readonly freshness?: Freshness },
    statements: readonly BoundStatement[],
  ): Promise<TextRow[][]> {
    if (this.units.getStore()) return this.run(scope, statements);
    const batch = [scopeStatement(scope), ...statements];
    const deadline = performance.now() + READ_PATIENCE_MS;
    const fromPrimary = (): Promise<TextRow[][]> => this.pool.read(batch, deadline);
    const standby = scope.freshness === 'recent' ? this.standbys?.choose() : null;
    const rows = await (standby ? standby.read(batch).catch(fromPrimary) : fromPrimary());
    return rows.slice(1);
  }

  /**
   * Like {@link run}, for writes without a result. Inside a unit of work they are sent with its next batch or commit.
   */
  async write(scope: TenantScope, statements: readonly BoundStatement[]): Promise<void> {
    const unit = this.unitFor(scope);
    if (unit) unit.write(statements);
    else await this.run(scope, statements);
  }

  /**
   * For work that deletes by age, for good: a clock of Postgres that runs ahead, be it for a minute, would make everything old.
   * @throws when it is an hour away from the clock of this process
   */
  async assertClocksAgree(): Promise<void> {
    const [[row] = []] = await this.run({ outsideTenants: true }, [bind(CLOCK, [])]);
    if (Math.abs(Number(row?.[0]) - Date.now()) > CLOCKS_APART_MS) {
      throw new Error(
        'The clock of Postgres and that of this process differ by more than an hour. Nothing old is deleted.',
      );
    }
  }

  /** Writes at the very end of the unit of work, with its COMMIT: for a lock that must be short. Only within a unit. */
  writeLast(scope: TenantScope, statement: BoundStatement): void {
    const unit = this.unitFor(scope);
    if (!unit) throw new Error('Only a unit of work has an end to write at.');
    unit.writeLast(statement);
  }

  /**
   * Runs `work` as one READ COMMITTED transaction on the primary. Calls of {@link run} and {@link write} from within
   * `work` join it. An exception rolls everything back.
   * A deadlock, a lock timeout or a vanished row repeats the whole of `work`: up to ten times and until `deadline`, a
   * time of `performance.now()`, by default five seconds from now. A connection that is lost before COMMIT repeats it once.
   * When the connection is lost during COMMIT, the outcome is unknown.
   * The error that closes the gate replaces the result or error of `work`.
   * Statements that `work` did not await fail. On Node 20 they may run outside the transaction when no other unit is
   * active.
   * @throws `service_unavailable` when a row vanishes each time
   */
  async unitOfWork<Result>(
    scope: TenantScope,
    work: () => Promise<Result>,
    {
      gate,
      deadline = performance.now() + UNIT_PATIENCE_MS,
    }: { readonly gate?: Gate; readonly deadline?: number } = {},
  ): Promise<Result> {
    if (this.units.getStore()) throw new Error('A unit of work cannot begin within another.');
    let lostAt: number | undefined;
    for (let repeats = 0; ; repeats += 1) {
      const unit: UnitOfWork = new UnitOfWork(this.pool, scopeStatement(scope), deadline, gate, lostAt);
      try {
        return await this.carryOut(unit, work);
      } catch (error) {
        const rolledBack = unit.rollback(error);
        if (error instanceof GateClosed) throw error;
        await rolledBack;
        const state = sqlStateOf(error);
        const repeatable =
          (lostAt === undefined && unit.lostBeforeCommit !== undefined) || REPEATABLE_SQLSTATES.has(state);
        lostAt ??= unit.lostBeforeCommit;
        const isOver = deadline - performance.now() < SHORTEST_TRY_MS;
        if (!repeatable || repeats === MAX_REPEATS || isOver)
          throw VANISHED_SQLSTATES.has(state) ? crowdedOut(error) : error;
        await beforeRepeat(repeats);
      }
    }
  }

  private async carryOut<Result>(unit: UnitOfWork, work: () => Promise<Result>): Promise<Result> {
    this.unitsUnderWay += 1;
    try {
      const result = await this.units.run(unit, work).finally(() => unit.passGate());
      await unit.commit();
      return result;
    } finally {
      this.unitsUnderWay -= 1;
      // On Node 20 an enabled AsyncLocalStorage tracks every promise, which costs each read 10 % more CPU. No effect
      // from Node 24 on.
      if (this.unitsUnderWay === 0) this.units.disable();
    }
  }

  /**
   * Runs `work` with an entity manager, as one READ COMMITTED transaction on the primary. An exception rolls it back.
   * A deadlock, a serialization failure or a foreign key that was violated meanwhile repeats the whole of `work`, up to
   * ten times.
   */
  async inTenant<Result>(scope: TenantScope, work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    // It would need a second connection while the unit holds one. With all connections taken, it would wait for itself.
    if (this.units.getStore()) throw new Error('A transaction of its own cannot begin within a unit of work.');
    const begin = (): Promise<Result> => this.transaction(scopeStatement(scope), work);
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.pool.counted(() => traceCall(() => TRANSACTION, begin));
      } catch (error) {
        const repeatable = REPEATABLE_IN_TENANT.has(sqlStateOf(error));
        if (!repeatable || repeats === MAX_REPEATS) throw error;
        await beforeRepeat(repeats);
      }
    }
  }

  private async transaction<Result>(
    { text, values }: BoundStatement,
    work: (manager: EntityManager) => Promise<Result>,
  ): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    const client = (await runner.connect()) as Client;
    try {
      await runner.startTransaction();
      await runner.query(text, [...values]);
      const result = await work(runner.manager);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      // A late answer would leave the next user of the connection inside of this transaction.
      if (queryTimedOut(error)) void client.end();
      else await runner.rollbackTransaction().catch(() => void client.end());
      // TypeORM tells only this of a connection that was lost between two statements.
      const wasLost =
        error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;
      throw wasLost ? new Error('Connection terminated unexpectedly', { cause: error }) : error;
    } finally {
      await runner.release();
    }
  }

  private unitFor(scope: TenantScope): UnitOfWork | undefined {
    const unit = this.units.getStore();
    if (unit && !unit.belongsTo(scopeStatement(scope))) throw new Error('A unit of work has one tenant only.');
    return unit;
  }
}

/** Others deleted what the work names before each of its attempts. */
function crowdedOut(cause: unknown): DomainError {
  const detail = 'What this request names was deleted again and again meanwhile. Send the request again.';
  return Object.assign(new DomainError('service_unavailable', detail), { cause });
}

/** Waits for a random time, so that two transactions do not meet again. */
const beforeRepeat = (repeats: number): Promise<void> => delay(Math.random() * 20 * (repeats + 1));

const sqlStateOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code);
