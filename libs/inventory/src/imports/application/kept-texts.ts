import type { InputLine } from '../domain/import-files.port';
import type { InputPlaces } from '../domain/input-places';
import { type KeptLine, keptLine } from '../domain/kept-line';

/**
 * Texts of records that Postgres keeps until it has taken them. They lack the header of their CSV file: a long header
 * beside each row of a small file would fill the disk of Postgres.
 */
export class KeptTexts {
  /** By the numbers of the files. */
  private readonly headers = new Map<number, string>();

  constructor(private readonly places: InputPlaces) {}

  textOf(line: InputLine): string {
    const { header, ...row } = keptLine(line);
    // A line of a file of bad lines has a header of its own.
    if (header === undefined || line.again) return JSON.stringify({ header, ...row });
    this.headers.set(line.fileIndex, header);
    return JSON.stringify(row);
  }

  /** Returns the line of a text that Postgres gave back. */
  lineOf(place: number, text: string | null): KeptLine | null {
    if (text === null) return null;
    const header = this.headers.get(this.places.fileIndexOf(place));
    return { ...(header !== undefined && { header }), ...(JSON.parse(text) as KeptLine) };
  }
}
