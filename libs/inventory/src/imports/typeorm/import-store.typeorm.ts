import { Injectable, Optional } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import { poolOf } from '#libs/platform/database';
import type { Pool, PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import {
  ImportAlreadyRunning,
  type ImportSession,
  type ImportSettings,
  ImportStore,
} from '../domain/import-store.port';
import { StagingConnection } from './staging-connection';
import { ImportSessionTypeorm } from './import-session.typeorm';
import type { StagingConnections } from './staging-connections';
import { CREATE_TABLES, beginIn } from './batch-statements';
import { ImportTagKeys } from './import-tag-keys';
import { importLockOf } from './import-run.row';
import { SOURCE_BEFORE, type SourceBefore } from './missing-statements';
import { RunRecord } from './run-record';

/**
 * Allows one import of a source at a time. The lock ends with the connection, so a killed import leaves none behind.
 */
const LOCK = `SELECT pg_try_advisory_lock(${importLockOf('$1', '$2')}) AS locked`;
/** Of imports by the console, on any instance. */
const LOCK_WORKSPACE = `SELECT pg_try_advisory_lock(hashtextextended('console import ' || $1, 0)) AS locked`;
const UNLOCK = 'SELECT pg_advisory_unlock_all()';

/**
 * Joins use indexes row by row, because a batch is small compared with an inventory. Plans are generic: while a
 * workspace is being filled, statistics would claim that it has a single row.
 */
const PLAN =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; SET jit = off';
/** A transaction is idle while the previous batch is written. */
const REST = 'SET idle_in_transaction_session_timeout = 0';
const OPEN_STAGING = `${PLAN}; ${REST}; ${CREATE_TABLES}`;
const DEFAULTS =
  'RESET enable_hashjoin; RESET enable_mergejoin; RESET plan_cache_mode; RESET jit; RESET idle_in_transaction_session_timeout';

@Injectable()
export class ImportStoreTypeorm extends ImportStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditRecorder,
    // Nest knows no boolean.
    @Optional() private readonly ofPerson = false,
  ) {
    super();
  }

  asPerson(personId: string): ImportStore {
    return new ImportStoreTypeorm(this.dataSource, this.audit.asPerson(personId), true);
  }

  async open(workspaceId: WorkspaceId, settings: ImportSettings): Promise<ImportSession> {
    const pool = poolOf(this.dataSource);
    const client = await pool.connect();
    try {
      const { rows } = await client.query<{ locked: boolean }>(LOCK, [workspaceId, settings.source]);
      if (!rows[0]?.locked) throw new ImportAlreadyRunning(`of the source "${settings.source}"`);
      if (this.ofPerson) {
        const { rows: alone } = await client.query<{ locked: boolean }>(LOCK_WORKSPACE, [workspaceId]);
        if (!alone[0]?.locked) throw new ImportAlreadyRunning('by the console');
      }
      await client.query(OPEN_STAGING);
      await client.query(beginIn(workspaceId));
      const tagKeys = await ImportTagKeys.read(client, workspaceId, settings);
      const { rows: sources } = await client.query<SourceBefore>(SOURCE_BEFORE, [workspaceId, settings.source]);
      const run = settings.dryRun
        ? null
        : await RunRecord.begin(client, workspaceId, settings.source, this.audit.who, settings.run);
      await client.query('COMMIT');
      const connectionOn = (on: PoolClient): StagingConnection =>
        new StagingConnection(on, workspaceId, settings.source, this.audit, settings.dryRun);
      return new ImportSessionTypeorm(
        connectionsOf(pool, client, connectionOn),
        settings,
        tagKeys,
        sources[0] as SourceBefore,
        run,
      );
    } catch (error) {
      client.release(true);
      throw error;
    }
  }
}

function connectionsOf(
  pool: Pool,
  client: PoolClient,
  connectionOn: (client: PoolClient) => StagingConnection,
): StagingConnections {
  let second: PoolClient | null = null;
  let closed = false;
  return {
    first: connectionOn(client),
    openSecond: async () => {
      const opened = await pool.connect();
      try {
        await opened.query(OPEN_STAGING);
        if (closed) throw new Error('The import ended before its second connection was there.');
      } catch (error) {
        opened.release(true);
        throw error;
      }
      second = opened;
      return connectionOn(opened);
    },
    close: async (completed, beforeUnlock) => {
      closed = true;
      // It has no lock to release, and a query would wait for ever behind a copy that was broken off.
      if (completed && second) await giveBack(second, completed, () => Promise.resolve());
      else second?.release(true);
      await giveBack(client, completed, beforeUnlock);
    },
  };
}

async function giveBack(client: PoolClient, completed: boolean, beforeUnlock: () => Promise<void>): Promise<void> {
  // After a completed import the loss of a connection does not matter.
  const reset =
    completed &&
    (await client.query(`${DEFAULTS}; ${UNLOCK}`).then(
      () => true,
      () => false,
    ));
  // Closing the connection ends its session some time later. Release the lock now, if Postgres still responds, so that
  // an interrupted import can be repeated at once.
  if (!reset) {
    await client
      .query('ROLLBACK')
      .then(beforeUnlock)
      .then(() => client.query(UNLOCK))
      .catch(() => undefined);
  }
  client.release(!reset);
}
