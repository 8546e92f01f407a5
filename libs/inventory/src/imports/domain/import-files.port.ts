import type { BytesRead } from './import-report';
import type { MappedItem, RecordMap } from './maps/record-map';

/** Bytes of the longest line, row or item that is read. */
export const MAX_LINE_BYTES = 1_048_576;

/**
 * One line of the input (`fileIndex` from 0, `line` from 1): a value to check, or the reason why it is unreadable. With a
 * map, a line is an item, whose number counts the items of its file, and which the map may leave out.
 */
export type InputLine = {
  readonly fileIndex: number;
  readonly line: number;
  /** Absent when the line is too long to keep, or comes from no file. */
  readonly bytes?: Buffer;
  readonly header?: string;
  /** An earlier import kept the line, and it was corrected since. */
  readonly again?: boolean;
} & ({ readonly value: unknown } | MappedItem);

export const FORMATS = ['ndjson', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

export interface ReadingOptions {
  readonly map: RecordMap | null;
  /** Null: the name of a file tells, and with a map its first bytes. */
  readonly format: Format | null;
  /** The most bytes of a file, unpacked. By default any number. */
  readonly mostBytes?: number;
}

/** A file that cannot be read as a whole. The message is for people. */
export class InputUnreadable extends Error {}

/** Reads the input of an import. */
export abstract class ImportFiles {
  /** Returns the size in bytes. Null for standard input, and for what {@link read} cannot read as a file. */
  abstract sizeOf(file: string): number | null;

  /**
   * Yields every line of the files in order, grouped as they were read, and only as fast as they are taken. Skips blank
   * lines.
   * @throws {@link InputUnreadable}, and the errors of the file system
   */
  abstract read(
    files: readonly string[],
    onBytes: (bytes: BytesRead) => void,
    options: ReadingOptions,
  ): AsyncIterable<readonly InputLine[]>;
}
