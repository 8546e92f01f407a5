import { Injectable } from '@nestjs/common';
import type { WorkspaceId } from '#libs/kernel';
import { DataSource, type EntityManager } from 'typeorm';
import type { Pool } from 'pg';
import { poolOf } from './data-source';
import { type BoundStatement, PipelinedStatements, type TextRow } from './pipelined-statements';

/**
 * Whose rows row-level security lets a transaction see: one workspace's, or, before the workspace is known, the one
 * application with this client id.
 */
export type TenantScope = { readonly workspaceId: WorkspaceId } | { readonly clientId: string };

const SET_WORKSPACE = { name: 'set_workspace', text: `SELECT set_config('app.workspace_id', $1, true)` };
const SET_CLIENT = { name: 'set_client', text: `SELECT set_config('app.client_id', $1, true)` };

const scopeStatement = (scope: TenantScope): BoundStatement =>
  'workspaceId' in scope
    ? { ...SET_WORKSPACE, values: [scope.workspaceId] }
    : { ...SET_CLIENT, values: [scope.clientId] };

/** The one way to Postgres: nothing is read or written outside a tenant's scope. */
@Injectable()
export class Database {
  private readonly pool: Pool;

  constructor(private readonly dataSource: DataSource) {
    this.pool = poolOf(dataSource);
  }

  /**
   * Runs prepared statements in one round trip and one transaction, and gives the rows of each in the order sent, every
   * column as text. For reads and for single statements that write.
   */
  async run(scope: TenantScope, statements: readonly BoundStatement[]): Promise<TextRow[][]> {
    const client = await this.pool.connect();
    try {
      const rows = await new Promise<TextRow[][]>((resolve, reject) => {
        const batch = new PipelinedStatements([scopeStatement(scope), ...statements]);
        batch.callback = (error, result) => (error ? reject(error) : resolve(result ?? []));
        client.query(batch);
      });
      client.release();
      return rows.slice(1);
    } catch (error) {
      // Which of the batch's statements the server still has prepared is not known: the connection is given up.
      client.release(true);
      throw error;
    }
  }

  /** Runs `work` in one READ COMMITTED transaction on the primary; anything it throws rolls back. */
  async transaction<Result>(scope: TenantScope, work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.dataSource.transaction(async (manager) => {
      const statement = scopeStatement(scope);
      await manager.query(statement.text, [...statement.values]);
      return work(manager);
    });
  }
}
