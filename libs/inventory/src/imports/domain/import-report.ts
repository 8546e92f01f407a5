import type { KeptLine } from './kept-line';

/** Each line is counted once as created, updated, unchanged or failed. */
export interface ImportCounts {
  readonly read: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Assets hidden because the input did not name them. */
  readonly hidden: number;
  readonly failed: number;
  /** Items that the map left out. They are not in `read`. */
  readonly skipped: number;
  /** Records that were imported without a part of them. */
  readonly warned: number;
  /** Assets that kept their history under a new external id. */
  readonly rekeyed: number;
}

/** Maximum number of errors, and of warnings, in a report. All are counted. */
export const REPORTED = 1_000;

/** The result of an import. */
export interface ImportReport extends ImportCounts {
  /** Why nothing was hidden, although it was asked for, as a sentence. */
  readonly hiddenWhy: string | null;
  /** True when hiding was left out because it is not plausible, which fails the command. */
  readonly hidingRefused: boolean;
  /** True when the source had no asset before. */
  readonly newSource: boolean;
  /** The first warnings, sorted by line. */
  readonly warnings: readonly ImportError[];
  /** The bad lines found first, sorted by line. `onBadLine` received all of them. */
  readonly errors: readonly ImportError[];
  readonly dryRun: boolean;
}

export interface ImportError {
  /** The file, when there are several. */
  readonly file?: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** A bad line with the text needed to correct it. `place` increases from line to line over all files of an import. */
export interface BadLine extends ImportError, KeptLine {
  readonly place: number;
  /** The reason as the record of the import keeps it, where it quotes a value. */
  readonly withoutValues?: string;
}

export interface BytesRead {
  readonly bytesRead: number;
  /** Null when the length is unknown, as for standard input. */
  readonly bytesTotal: number | null;
}

export type ImportProgress = BytesRead & ImportCounts;
