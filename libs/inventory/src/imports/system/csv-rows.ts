import { MAX_LINE_BYTES } from '../domain/import-files.port';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const QUOTE = 34;
/** Comma, semicolon and tab. */
const SEPARATORS = [44, 59, 9];
const NOTHING = Buffer.alloc(0);

const MISPLACED = 'a quote stands in a cell that does not begin with one.';
const UNCLOSED = 'a quote of it is never closed.';
const UNFINISHED = 'a closing quote is followed by something else than a separator.';

/** A row with its first line: the cells, with one character for each byte, or a fault. */
export type CsvRow = { readonly line: number; readonly bytes?: Buffer } & (
  { readonly cells: readonly string[] } | { readonly fault: string }
);

type Standing = 'before a cell' | 'in a cell' | 'in quotes' | 'after a quote';

/** Returns the character that separates the columns of a header, null when there is none. */
export function separatorIn(text: string): number | null {
  const [header = ''] = text
    .trimStart()
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]/, 1);
  const counts = SEPARATORS.map((one) => header.split(String.fromCharCode(one)).length - 1);
  const most = Math.max(...counts);
  return most === 0 ? null : (SEPARATORS[counts.indexOf(most)] ?? null);
}

/**
 * Parses rows of CSV (RFC 4180) from chunks of bytes. A line ends with CRLF, LF or CR, also mixed. An invalid row ends
 * where its quotes do, so quoted text is never taken for a row; reading continues after it. Beyond a row that is too
 * long, csv-parse 6.1.0 with a limit lost 20,000 of 20,000 rows without an error, so this is no library.
 */
export class CsvRows {
  private standing: Standing = 'before a cell';
  private line = 1;
  /** First line of the row. */
  private start = 1;
  /** Start of the current row and of the current cell within this chunk. */
  private rowFrom = 0;
  private cellFrom = 0;
  /** Parts of them from earlier chunks. */
  private rowBytes = 0;
  private rowParts: Buffer[] = [];
  private cell = '';
  private cells: string[] = [];
  private fault: string | null = null;
  private afterCarriageReturn = false;
  private rows: CsvRow[] = [];
  private readonly highest: number;

  constructor(private readonly separator: number) {
    this.highest = Math.max(QUOTE, separator);
  }

  /** Returns the rows that end in this chunk. */
  take(chunk: Buffer): CsvRow[] {
    this.rowFrom = 0;
    this.cellFrom = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      // Most bytes only extend their cell.
      if (byte > this.highest && (this.standing === 'in a cell' || this.standing === 'in quotes')) {
        this.afterCarriageReturn = false;
        continue;
      }
      this.step(chunk, at, byte);
    }
    this.keepCell(chunk, chunk.length);
    this.rowBytes += chunk.length - this.rowFrom;
    this.rowParts.push(chunk.subarray(this.rowFrom));
    // Only the end of an oversized row matters.
    if (this.rowBytes > MAX_LINE_BYTES) this.forget();
    return this.taken();
  }

  /** Returns the last row, if no line end follows it. */
  end(): CsvRow[] {
    this.rowFrom = 0;
    this.cellFrom = 0;
    if (this.standing === 'in quotes') {
      const fault = `The row is not CSV: ${this.fault ?? UNCLOSED} Nothing after line ${this.start} was read.`;
      this.rows.push({ line: this.start, fault, ...this.bytesWith(NOTHING) });
    } else this.endRow(NOTHING, 0);
    return this.taken();
  }

  private step(chunk: Buffer, at: number, byte: number): void {
    const endsLine = byte === LINE_FEED || byte === CARRIAGE_RETURN;
    const endedAlready = byte === LINE_FEED && this.afterCarriageReturn;
    this.afterCarriageReturn = byte === CARRIAGE_RETURN;
    if (this.standing === 'in quotes') {
      if (endsLine && !endedAlready) this.line += 1;
      if (byte !== QUOTE) return;
      this.keepCell(chunk, at);
      this.standing = 'after a quote';
    } else if (endsLine) {
      if (!endedAlready) this.endRow(chunk, at);
      this.rowFrom = at + 1;
      this.cellFrom = at + 1;
    } else if (byte === this.separator) {
      this.endCell(chunk, at);
      this.cellFrom = at + 1;
    } else if (this.standing === 'before a cell') {
      this.standing = byte === QUOTE ? 'in quotes' : 'in a cell';
      this.cellFrom = byte === QUOTE ? at + 1 : at;
    } else if (this.standing === 'after a quote') {
      // Two quotes stand for one in the cell.
      if (byte !== QUOTE) this.fault ??= UNFINISHED;
      this.standing = 'in quotes';
      this.cellFrom = at;
    } else if (byte === QUOTE) this.fault ??= MISPLACED;
  }

  private endRow(chunk: Buffer, at: number): void {
    const isEmpty = this.rowBytes + at === this.rowFrom;
    if (!isEmpty) this.rows.push(this.finished(chunk, at));
    this.line += 1;
    this.start = this.line;
    this.rowBytes = 0;
    this.fault = null;
    this.forget();
    this.standing = 'before a cell';
  }

  private finished(chunk: Buffer, at: number): CsvRow {
    this.endCell(chunk, at);
    const { start: line, cells } = this;
    const extent = this.line > line ? ` Lines ${line} to ${this.line} were taken for it.` : '';
    const bytes = this.bytesWith(chunk.subarray(this.rowFrom, at));
    if (bytes === null) return { line, fault: `The row is longer than ${MAX_LINE_BYTES} bytes.${extent}` };
    if (this.fault === null) return { line, cells, ...bytes };
    return { line, fault: `The row is not CSV: ${this.fault}${extent}`, ...bytes };
  }

  /** Returns the complete bytes of the row, or null when it is too long. */
  private bytesWith(last: Buffer): { readonly bytes: Buffer } | null {
    if (this.rowBytes + last.length > MAX_LINE_BYTES) return null;
    return { bytes: this.rowParts.length === 0 ? last : Buffer.concat([...this.rowParts, last]) };
  }

  private endCell(chunk: Buffer, at: number): void {
    this.keepCell(chunk, at);
    this.cells.push(this.cell);
    this.cell = '';
    this.standing = 'before a cell';
  }

  /** Text behind a closing quote is not part of the cell. */
  private keepCell(chunk: Buffer, end: number): void {
    if (this.standing !== 'after a quote' && end > this.cellFrom)
      this.cell += chunk.toString('latin1', this.cellFrom, end);
    this.cellFrom = end;
  }

  private forget(): void {
    this.cells = [];
    this.cell = '';
    this.rowParts = [];
  }

  private taken(): CsvRow[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }
}
