import type { KeptLine } from './kept-line';

/** What came of an import. Every line that was read is counted once as created, updated, unchanged or failed. */
export interface ImportReport {
  readonly read: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Assets that were hidden because the input did not name them. */
  readonly hidden: number;
  readonly failed: number;
  /** Of the bad lines those that were found first, by line; all of them were told as they were found. */
  readonly errors: readonly ImportError[];
  readonly dryRun: boolean;
}

export interface ImportError {
  /** Which of several files; left out where there is one. */
  readonly file?: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** A bad line with what it takes to mend it. Places rise from line to line, over all files of an import. */
export interface BadLine extends ImportError, KeptLine {
  readonly place: number;
}

export interface ImportProgress {
  readonly read: number;
  readonly bytesRead: number;
  /** Null where the length is not known, as of standard input. */
  readonly bytesTotal: number | null;
}
