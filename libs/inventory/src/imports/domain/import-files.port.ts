import type { ImportProgress } from './import-report';

/** One line of the input (`fileIndex` from 0, `line` from 1): a value to check, or the reason why it could not be read. */
export type InputLine = {
  readonly fileIndex: number;
  readonly line: number;
  /** Absent where the line is too long to be kept, or comes from no file. */
  readonly bytes?: Buffer;
  readonly header?: string;
  /** The line was kept by an earlier import, and mended since. */
  readonly again?: boolean;
} & ({ readonly value: unknown } | { readonly fault: string });

/** Where an import comes from. */
export abstract class ImportFiles {
  /**
   * Every line of the files in order, as many at a time as were read at once, and read no faster than they are taken.
   * Blank lines are passed over. Throws when a file cannot be read at all.
   */
  abstract read(
    files: readonly string[],
    onBytes: (bytes: Omit<ImportProgress, 'read'>) => void,
  ): AsyncIterable<readonly InputLine[]>;
}
