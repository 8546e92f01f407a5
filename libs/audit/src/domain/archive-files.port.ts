/** Files of an archive, one for each name. */
export abstract class ArchiveFiles {
  /**
   * Writes a file, complete and on disk or not at all. A file that exists stays as it is. Reads all lines in either case.
   * @throws when the directory cannot be written, and {@link ArchiveRefused} when the file exists with other bytes
   */
  abstract write(path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<void>;

  /** Reads the lines of a file. */
  abstract lines(path: string): AsyncIterable<string>;
}
