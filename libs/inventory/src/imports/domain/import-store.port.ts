import type { WorkspaceId } from '#libs/kernel';
import type { ImportRecord } from './import-record';

/** A checked record with its place in the input: a number that rises from line to line and tells which line it is. */
export interface NumberedRecord {
  readonly place: number;
  readonly record: ImportRecord;
  /** Given back when the record is refused: the line, where it is to be kept. */
  readonly kept: string | null;
}

export interface Refusal {
  readonly place: number;
  readonly reason: string;
  readonly kept: string | null;
}

/** What became of a batch. Records whose owner is not there yet are kept and are in none of the counts. */
export interface MergeOutcome {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly refused: readonly Refusal[];
}

export interface ImportSettings {
  readonly source: string;
  /** Nothing is kept of what the session does. */
  readonly dryRun: boolean;
  /** Whether tag keys that the workspace does not have are made, as keys of the platform. */
  readonly createTagKeys: boolean;
  /** Whether {@link ImportSession.hideMissing} will be asked for, so that the names in the input are to be remembered. */
  readonly hideMissing: boolean;
}

/** Another import of the same source and workspace is running. */
export class ImportAlreadyRunning extends Error {
  constructor(source: string) {
    super(`An import of the source "${source}" is already running in this workspace.`);
    this.name = 'ImportAlreadyRunning';
  }
}

/** Opens imports; one at a time for a source of a workspace. */
export abstract class ImportStore {
  /** Throws {@link ImportAlreadyRunning}. */
  abstract open(workspaceId: WorkspaceId, settings: ImportSettings): Promise<ImportSession>;
}

/** One import from its first batch to its end. Each batch is kept whole or not at all (none of them in a dry run). */
export abstract class ImportSession {
  /**
   * Takes a record into the next batch, also while the one before it is merged. No external id may stand twice in an
   * import, and no id twice in a batch.
   */
  abstract add(numbered: NumberedRecord): void;

  /**
   * Brings in, as one batch, what was added since the last call; at most that call may be under way still. Values set
   * through the API are kept. `apart`: nothing in this batch is an asset of the one before, and neither has an employee, so
   * that the work on both may overlap. `spared`: the input names these assets, although their records were bad. Where the
   * batch before fails, this one does.
   */
  abstract merge(apart: boolean, spared: readonly string[]): Promise<MergeOutcome>;

  /** Brings in the records that waited for their owners, batch by batch; those whose owner never came are refused. */
  abstract mergeDeferred(): AsyncIterable<MergeOutcome>;

  /** Hides the visible assets of the source that the input did not name, and gives their number. */
  abstract hideMissing(): Promise<number>;

  /** Ends the import; `completed` false after a failure. */
  abstract close(completed: boolean): Promise<void>;
}
