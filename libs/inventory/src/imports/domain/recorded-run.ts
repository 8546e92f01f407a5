import type { ImportCounts, ImportError } from './import-report';

/**
 * COMPLETED: the input was read to its end. FAILED: the import ended itself before. INTERRUPTED: an operator ended it, or
 * its process is gone.
 */
export const RUN_OUTCOMES = ['RUNNING', 'COMPLETED', 'FAILED', 'INTERRUPTED'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** An input file by its name without its path. `bytes` is null where the length is unknown, as for standard input. */
export interface RunFile {
  readonly name: string;
  readonly bytes: number | null;
}

/** The request of an import. */
export interface RunRequest {
  readonly map: string | null;
  readonly options: Readonly<Record<string, unknown>>;
  readonly files: readonly RunFile[];
}

export const NO_COUNTS: ImportCounts = {
  read: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  hidden: 0,
  failed: 0,
  skipped: 0,
  warned: 0,
  rekeyed: 0,
};

/** Results of an import so far. Reasons name member and rule, never a value. */
export interface RunResult {
  readonly counts: ImportCounts;
  readonly hiddenWhy: string | null;
  readonly errors: readonly ImportError[];
  readonly warnings: readonly ImportError[];
}

/** The record of an import. */
export interface RecordedRun extends ImportCounts, RunRequest {
  readonly id: string;
  readonly source: string;
  readonly startedAt: Date;
  /** Null while it runs. */
  readonly endedAt: Date | null;
  readonly outcome: RunOutcome;
  readonly who: string | null;
  readonly hiddenWhy: string | null;
}

/** A source with its latest import. */
export interface ImportedSource {
  readonly source: string;
  /** Visible assets. */
  readonly assetCount: number;
  /** Null where no import is recorded. */
  readonly lastImport: RecordedRun | null;
  readonly lastCompletedAt: Date | null;
  /** Age from which the last completed import is stale. */
  readonly staleAfterSeconds: number | null;
}
