import type { InputLine } from './import-files.port';

/** The name of a file without its path. */
export const nameOfFile = (file: string): string => file.slice(file.lastIndexOf('/') + 1);
const asGiven = (file: string): string => file;

/** Combines file and line into one number, so that lines need not be kept. */
const LINES_PER_FILE = 1e10;

/** Places of lines in the files of one input. A place identifies a line and increases from line to line. */
export class InputPlaces {
  constructor(private readonly files: readonly string[]) {}

  placeOf({ fileIndex, line }: Pick<InputLine, 'fileIndex' | 'line'>): number {
    return fileIndex * LINES_PER_FILE + line;
  }

  fileIndexOf(place: number): number {
    return Math.floor(place / LINES_PER_FILE);
  }

  /** The file is absent when there is only one. `show` shortens its name. */
  at(place: number, show = asGiven): { readonly file?: string; readonly line: number } {
    const file = this.files.length > 1 ? this.files[this.fileIndexOf(place)] : undefined;
    return { ...(file !== undefined && { file: show(file) }), line: place % LINES_PER_FILE };
  }

  /** Says that an earlier line has the same external id. */
  repeats(first: number): string {
    return `externalId is already on ${this.lineOf(first)}.`;
  }

  lineOf(place: number): string {
    const { file, line } = this.at(place, nameOfFile);
    return `line ${line}${file === undefined ? '' : ` of ${file}`}`;
  }
}
