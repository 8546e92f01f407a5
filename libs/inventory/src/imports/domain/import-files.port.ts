import type { ImportProgress } from './import-report';

/** One line of the input (`fileIndex` from 0, `line` from 1): a value to check, or the reason why it is unreadable. */
export type InputLine = {
  readonly fileIndex: number;
  readonly line: number;
  /** Absent when the line is too long to keep, or comes from no file. */
  readonly bytes?: Buffer;
  readonly header?: string;
  /** An earlier import kept the line, and it was corrected since. */
  readonly again?: boolean;
} & ({ readonly value: unknown } | { readonly fault: string });

/** Reads the input of an import. */
export abstract class ImportFiles {
  /**
   * Yields every line of the files in order, grouped as they were read, and only as fast as they are taken. Skips blank
   * lines.
   * @throws when a file cannot be read at all
   */
  abstract read(
    files: readonly string[],
    onBytes: (bytes: Omit<ImportProgress, 'read'>) => void,
  ): AsyncIterable<readonly InputLine[]>;
}
