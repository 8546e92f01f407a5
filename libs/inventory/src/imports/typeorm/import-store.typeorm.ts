import { Injectable } from '@nestjs/common';
import { AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import { poolOf } from '#libs/platform/database';
import { DataSource } from 'typeorm';
import {
  ImportAlreadyRunning,
  type ImportSession,
  type ImportSettings,
  ImportStore,
} from '../domain/import-store.port';
import { beginIn } from './batch-statements';
import { importLockOf } from './import-run.row';
import { ImportSessionTypeorm } from './import-session.typeorm';
import { ImportTagKeys } from './import-tag-keys';
import { SOURCE_BEFORE, type SourceBefore } from './missing-statements';
import { RunRecord } from './run-record';
import { StagingConnection } from './staging-connection';
import { OPEN_STAGING, StagingConnections } from './staging-connections';

/**
 * Allows one import of a source at a time. The lock ends with the connection, so a killed import leaves none behind. A dry
 * run takes none: it would delay imports, and an import that was killed would seem to run.
 */
const LOCK = `SELECT pg_try_advisory_lock(${importLockOf('$1', '$2')}) AS locked`;
/** Allows one import by the console at a time, on all instances. */
const LOCK_WORKSPACE = `SELECT pg_try_advisory_lock(hashtextextended('console import ' || $1, 0)) AS locked`;

@Injectable()
export class ImportStoreTypeorm extends ImportStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditRecorder,
  ) {
    super();
  }

  async open(workspaceId: WorkspaceId, settings: ImportSettings): Promise<ImportSession> {
    const { source, dryRun, person } = settings;
    const pool = poolOf(this.dataSource);
    const client = await pool.connect();
    try {
      const lock = async (statement: string, values: readonly string[], which: string): Promise<void> => {
        const { rows } = await client.query<{ locked: boolean }>(statement, [...values]);
        if (!rows[0]?.locked) throw new ImportAlreadyRunning(which);
      };
      if (!dryRun) await lock(LOCK, [workspaceId, source], `of the source "${source}"`);
      if (person) await lock(LOCK_WORKSPACE, [workspaceId], 'by the console');
      await client.query(OPEN_STAGING);
      await client.query(beginIn(workspaceId));
      const audit = person ? this.audit.asPerson(person) : this.audit;
      const first = new StagingConnection(client, workspaceId, source, dryRun, audit);
      const tagKeys = new ImportTagKeys(settings);
      await tagKeys.read(first);
      const before = await first.row<SourceBefore>(SOURCE_BEFORE, [workspaceId, source]);
      const run = dryRun ? null : new RunRecord(first);
      await run?.begin(settings.run);
      await client.query('COMMIT');
      tagKeys.commit();
      const connections = new StagingConnections(pool, first);
      return new ImportSessionTypeorm(connections, settings, tagKeys, before, run);
    } catch (error) {
      // The session ends some time after the connection, and the next attempt needs the lock of the source.
      if (error instanceof ImportAlreadyRunning)
        await client.query('SELECT pg_advisory_unlock_all()').catch(() => null);
      client.release(true);
      throw error;
    }
  }
}
