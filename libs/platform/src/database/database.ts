import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Freshness, WorkspaceId } from '#libs/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import { traceCall } from '../observability/tracing';
import { ConnectionPool, type PoolUse, SHORTEST_TRY_MS } from './connections/connection-pool';
import { poolOf } from './connections/data-source';
import { type BoundStatement, type TextRow, bind } from './pipelined-statements';
import type { StandbyUse } from './connections/standby';
import type { Standbys } from './connections/standbys';
import { type Gate, GateClosed, UnitOfWork } from './unit-of-work';

/**
 * Whose rows row-level security lets a transaction see: one workspace's; before the workspace is known, the one
 * application with this client id; or nobody's, for the few functions of the database that work across workspaces.
 */
export type TenantScope =
  { readonly workspaceId: WorkspaceId } | { readonly clientId: string } | { readonly outsideTenants: true };

const SET_WORKSPACE = { name: 'set_workspace', text: `SELECT set_config('app.workspace_id', $1, true)` };
const SET_CLIENT = { name: 'set_client', text: `SELECT set_config('app.client_id', $1, true)` };

const scopeStatement = (scope: TenantScope): BoundStatement => {
  if ('outsideTenants' in scope) return bind(SET_WORKSPACE, ['']);
  if ('workspaceId' in scope) return bind(SET_WORKSPACE, [scope.workspaceId]);
  return bind(SET_CLIENT, [scope.clientId]);
};

const TRANSACTION = { name: 'transaction', attributes: { 'db.system.name': 'postgresql' } };

/** Refusals that a second try can turn into success: deadlock, serialization, lock not had in time, a row that went. */
const REPEATABLE_SQLSTATES = new Set(['40P01', '40001', '55P03', '23502', '23503']);
const MAX_REPEATS = 3;
/** A unit of work is over after this long, whatever it has to wait for. */
const UNIT_PATIENCE_MS = 5_000;
/**
 * The same for a read, and for the update that begins a token. A request makes at most two of them: together five seconds.
 */
export const READ_PATIENCE_MS = 2_500;

/** The one way to Postgres: nothing is read or written outside a tenant's scope. */
@Injectable()
export class Database {
  private readonly pool: ConnectionPool;
  private readonly units = new AsyncLocalStorage<UnitOfWork>();
  private unitsUnderWay = 0;

  constructor(
    private readonly dataSource: DataSource,
    /** Null where there are none. */
    private readonly standbys: Standbys | null = null,
  ) {
    this.pool = new ConnectionPool(poolOf(dataSource));
  }

  get poolUse(): PoolUse {
    return this.pool.use;
  }

  /** Of each standby, in the order of their addresses. */
  get standbyUses(): readonly StandbyUse[] {
    return this.standbys?.uses ?? [];
  }

  /**
   * Runs prepared statements in one round trip and gives the rows of each in the order sent, every column as text.
   * Within a unit of work they are part of it; otherwise they are a transaction of their own, and not waited for any
   * longer than so many milliseconds where that is given: then it is not known whether they took place.
   */
  async run(
    scope: TenantScope,
    statements: readonly BoundStatement[],
    { patienceMs = Infinity }: { readonly patienceMs?: number } = {},
  ): Promise<TextRow[][]> {
    const unit = this.unitFor(scope);
    if (unit) return unit.run(statements);
    const rows = await this.pool.run([scopeStatement(scope), ...statements], performance.now() + patienceMs);
    return rows.slice(1);
  }

  /**
   * Like {@link run} for statements that only read. `recent` data may come from a standby. The primary does what no
   * standby does; there a read that loses its connection is repeated once. Takes two and a half seconds at most.
   */
  async read(scope: TenantScope, statements: readonly BoundStatement[], freshness: Freshness): Promise<TextRow[][]> {
    if (this.units.getStore()) return this.run(scope, statements);
    const batch = [scopeStatement(scope), ...statements];
    const deadline = performance.now() + READ_PATIENCE_MS;
    const fromPrimary = (): Promise<TextRow[][]> => this.pool.read(batch, deadline);
    const standby = freshness === 'recent' ? this.standbys?.choose() : null;
    const rows = await (standby ? standby.read(batch).catch(fromPrimary) : fromPrimary());
    return rows.slice(1);
  }

  /** Like {@link run} for writes whose rows nobody reads: within a unit of work they wait for its commit to carry them. */
  async write(scope: TenantScope, statements: readonly BoundStatement[]): Promise<void> {
    const unit = this.unitFor(scope);
    if (unit) unit.write(statements);
    else await this.run(scope, statements);
  }

  /**
   * Runs `work` as one READ COMMITTED transaction on the primary, which {@link run} and {@link write} join wherever they
   * are called from within it. What `work` throws rolls everything back. A deadlock, a lock that was not had in time or
   * a row that went meanwhile repeats the whole of `work`, up to three times and until `deadline` (by `performance.now()`;
   * five seconds from now unless given). When the connection is lost during COMMIT, whether it took place is not known.
   * What closes the gate is thrown rather than whatever `work` gave or threw. Statements that `work` leaves behind fail;
   * on Node 20 they may run on their own once no unit is under way.
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
    for (let repeats = 0; ; repeats += 1) {
      const unit = new UnitOfWork(this.pool, scopeStatement(scope), deadline, gate);
      try {
        return await this.carryOut(unit, work);
      } catch (error) {
        const rolledBack = unit.rollback(error);
        if (error instanceof GateClosed) throw error;
        await rolledBack;
        const repeatable = REPEATABLE_SQLSTATES.has(String((error as { code?: unknown }).code));
        const isOver = deadline - performance.now() < SHORTEST_TRY_MS;
        if (!repeatable || repeats === MAX_REPEATS || isOver) throw error;
        await delay(Math.random() * 20 * (repeats + 1));
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
      // Node 20 follows every promise while this is enabled, which costs each read 10 % more CPU. No effect from Node 24 on.
      if (this.unitsUnderWay === 0) this.units.disable();
    }
  }

  /** Runs `work` in one READ COMMITTED transaction on the primary; anything it throws rolls back. */
  async transaction<Result>(scope: TenantScope, work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    // It would take a second connection while the unit holds one: with all of them taken that waits for itself.
    if (this.units.getStore()) throw new Error('A transaction of its own cannot begin within a unit of work.');
    const begin = (): Promise<Result> =>
      this.dataSource.transaction(async (manager) => {
        const statement = scopeStatement(scope);
        await manager.query(statement.text, [...statement.values]);
        return work(manager);
      });
    return this.pool.counted(() => traceCall(() => TRANSACTION, begin));
  }

  private unitFor(scope: TenantScope): UnitOfWork | undefined {
    const unit = this.units.getStore();
    if (unit && !unit.belongsTo(scopeStatement(scope))) throw new Error('A unit of work has one tenant only.');
    return unit;
  }
}
