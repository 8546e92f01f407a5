import { randomUUID } from 'node:crypto';
import type { ImportCounts } from '../domain/import-report';
import { NO_COUNTS, type RunOutcome, type RunRequest, type RunResult } from '../domain/recorded-run';
import { beginIn } from './batch-statements';
import type { StagingConnection } from './staging-connection';

/** This import holds the lock of the source, so every other one that seems to run is gone. */
const SETTLE_SOURCE = `
  UPDATE import_run SET outcome = 'INTERRUPTED', ended_at = now()
   WHERE workspace_id = $1 AND source = $2 AND outcome = 'RUNNING'`;
const BEGIN_RUN = `
  INSERT INTO import_run (workspace_id, id, source, outcome, who, map, options, files, counts, errors, warnings)
  VALUES ($1, $2, $3, 'RUNNING', $4, $5, $6, $7, $8, '[]', '[]')`;
const COUNT_RUN = 'UPDATE import_run SET counts = $3 WHERE workspace_id = $1 AND id = $2';
/** The clock, because the transaction of a long step began before its end. */
const END_RUN = `
  UPDATE import_run SET outcome = $3, ended_at = clock_timestamp(), counts = $4, hidden_why = $5, errors = $6, warnings = $7
   WHERE workspace_id = $1 AND id = $2`;

/** The workspace of the import was deleted beside it, with its audit: an event would stay for ever. */
export class WorkspaceDeleted extends Error {
  constructor() {
    super('The workspace was deleted meanwhile.');
  }
}

/** Time between two counts of a running import. */
const COUNT_EVERY_MS = 2_000;

/** The record of one import, written on the connection that holds the lock of its source. */
export class RunRecord {
  private readonly id = randomUUID();
  private counts = NO_COUNTS;
  private countedAt = performance.now();

  constructor(private readonly connection: StagingConnection) {}

  /** Runs within a transaction. */
  async begin({ map, options, files }: RunRequest): Promise<void> {
    const { client, workspaceId, source, audit } = this.connection;
    await client.query(SETTLE_SOURCE, [workspaceId, source]);
    await client.query(BEGIN_RUN, [
      ...[workspaceId, this.id, source, audit.who, map],
      ...[options, files, NO_COUNTS].map((value) => JSON.stringify(value)),
    ]);
  }

  /** Remembers the counts so far, for {@link writeCounts}. */
  count(counts: ImportCounts): void {
    this.counts = counts;
  }

  /** Writes the counts with the transaction that is open, every two seconds at most. */
  async writeCounts(): Promise<void> {
    if (performance.now() - this.countedAt < COUNT_EVERY_MS) return;
    this.countedAt = performance.now();
    const { client, workspaceId } = this.connection;
    const { rowCount } = await client.query(COUNT_RUN, [workspaceId, this.id, JSON.stringify(this.counts)]);
    if (rowCount === 0) throw new WorkspaceDeleted();
  }

  /** Ends the record, that of a completed import together with its audit event, in a transaction of its own. */
  async end(outcome: Exclude<RunOutcome, 'RUNNING'>, result: RunResult): Promise<void> {
    const { counts, hiddenWhy, errors, warnings } = result;
    const { client, workspaceId } = this.connection;
    await client.query(beginIn(workspaceId));
    try {
      const { rowCount } = await client.query(END_RUN, [
        ...[workspaceId, this.id, outcome, JSON.stringify(counts), hiddenWhy],
        ...[JSON.stringify(errors), JSON.stringify(warnings)],
      ]);
      if (rowCount === 0) throw new WorkspaceDeleted();
      if (outcome === 'COMPLETED') await this.recordCompletion(counts);
      await client.query('COMMIT');
    } catch (error) {
      await this.connection.rollback();
      throw error;
    }
  }

  private async recordCompletion({ created, updated, unchanged, hidden, failed }: ImportCounts): Promise<void> {
    const counts = Object.entries({ created, updated, unchanged, hidden, failed });
    await this.connection.record({
      action: 'import.completed',
      target: { type: 'IMPORT', id: this.connection.source },
      changes: Object.fromEntries(counts.map(([field, count]) => [field, { old: null, new: count }])),
    });
  }
}
