const MAX_ROW_BYTES = 1_048_576;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const QUOTE = 34;
const COMMA = 44;
const NOTHING = Buffer.alloc(0);

const MISPLACED = 'a quote stands in a cell that does not begin with one.';
const UNCLOSED = 'a quote of it is never closed.';
const UNFINISHED = 'a closing quote is followed by something else than a comma.';

/** A row by the line where it begins: its cells, with a character for every byte, or the fault for which it has none. */
export type CsvRow = { readonly line: number; readonly bytes?: Buffer } & (
  { readonly cells: readonly string[] } | { readonly fault: string }
);

type Standing = 'before a cell' | 'in a cell' | 'in quotes' | 'after a quote';

/**
 * Rows of CSV (RFC 4180) as their bytes come. A line ends with CRLF, LF or CR, whatever the others end with. A row that is
 * at fault ends where its quotes do, so that nothing within quotes is ever taken for a row; the next one is read.
 */
export class CsvRows {
  private standing: Standing = 'before a cell';
  private line = 1;
  /** The line where the row begins. */
  private start = 1;
  /** What was read of the row in this chunk begins here, and what was read of the cell. */
  private rowFrom = 0;
  private cellFrom = 0;
  /** What was read of them in the chunks before. */
  private rowBytes = 0;
  private rowParts: Buffer[] = [];
  private cell = '';
  private cells: string[] = [];
  private fault: string | null = null;
  private afterCarriageReturn = false;
  private rows: CsvRow[] = [];

  /** The rows that end in the chunk. */
  take(chunk: Buffer): CsvRow[] {
    this.rowFrom = 0;
    this.cellFrom = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      // Most bytes only lengthen their cell.
      if (byte > COMMA && (this.standing === 'in a cell' || this.standing === 'in quotes')) {
        this.afterCarriageReturn = false;
        continue;
      }
      this.step(chunk, at, byte);
    }
    this.keepCell(chunk, chunk.length);
    this.rowBytes += chunk.length - this.rowFrom;
    this.rowParts.push(chunk.subarray(this.rowFrom));
    // Of a row that is too long anyway only its end matters.
    if (this.rowBytes > MAX_ROW_BYTES) this.forget();
    return this.taken();
  }

  /** The last row, where no line end stands behind it. */
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
    } else if (byte === COMMA) {
      this.endCell(chunk, at);
      this.cellFrom = at + 1;
    } else if (this.standing === 'before a cell') {
      this.standing = byte === QUOTE ? 'in quotes' : 'in a cell';
      this.cellFrom = byte === QUOTE ? at + 1 : at;
    } else if (this.standing === 'after a quote') {
      // Two quotes are one that is part of the cell.
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
    if (bytes === null) return { line, fault: `The row is longer than ${MAX_ROW_BYTES} bytes.${extent}` };
    if (this.fault === null) return { line, cells, ...bytes };
    return { line, fault: `The row is not CSV: ${this.fault}${extent}`, ...bytes };
  }

  /** The row as it was read, with its last bytes; null when it is too long. */
  private bytesWith(last: Buffer): { readonly bytes: Buffer } | null {
    if (this.rowBytes + last.length > MAX_ROW_BYTES) return null;
    return { bytes: this.rowParts.length === 0 ? last : Buffer.concat([...this.rowParts, last]) };
  }

  private endCell(chunk: Buffer, at: number): void {
    this.keepCell(chunk, at);
    this.cells.push(this.cell);
    this.cell = '';
    this.standing = 'before a cell';
  }

  /** What stands behind a closing quote is no part of its cell. */
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
