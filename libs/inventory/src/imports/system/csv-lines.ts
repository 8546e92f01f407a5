import { parseForeignJson } from '#libs/kernel';
import { type InputLine, MAX_LINE_BYTES } from '../domain/import-files.port';
import { type CsvRow, CsvRows, separatorIn } from './csv-rows';
import { readAhead } from './read-ahead';

const BOOLEANS = {
  compliance: ['antivirusInstalled', 'diskEncryptionEnabled', 'passwordManagerInstalled', 'screenLockEnabled'],
  dataStored: ['containsPatientData', 'containsUserData'],
};

const REQUIRED = ['categoryKey', 'externalId', 'name'];
const DEEPEST = 3;
const COMMA = 44;
const HEADER_NOT_CSV = 'The header is not CSV.';
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Read = { readonly value: unknown } | { readonly fault: string };
type RowReading = 'records' | 'items';
type Cells = Record<string, unknown>;

interface Column {
  readonly name: string;
  readonly path: readonly string[];
}

/** The first row: its text and its columns. */
interface Header {
  readonly text: string;
  readonly columns: readonly Column[];
}

/**
 * Reads one record per row. Columns are named by their path (`compliance.agentVersion`, `tags.0.key`); only `tags`
 * holds a JSON array. An empty cell is absent, and a row of them is
 * no record. An invalid row is reported as a fault, and reading continues. An invalid
 * header is a fault and the only line of its file. `items`: a row is an object of its cells, by the names of the columns.
 */
export async function* csvLines(
  content: AsyncIterable<Buffer>,
  fileIndex: number,
  as: RowReading = 'records',
): AsyncGenerator<InputLine[]> {
  let header: Header | null = null;
  for await (const rows of csvRows(content)) {
    const lines: InputLine[] = [];
    for (const row of rows) {
      const { line, bytes } = row;
      if ('cells' in row && row.cells.every((cell) => cell === '')) continue;
      if (header !== null) {
        lines.push({ fileIndex, line, header: header.text, ...(bytes && { bytes }), ...readRow(header, row, as) });
        continue;
      }
      const read = readHeader(row, as);
      if ('fault' in read) {
        yield [{ fileIndex, line, ...(bytes && { bytes }), fault: read.fault }];
        return;
      }
      header = read;
    }
    if (lines.length > 0) yield lines;
  }
}

/** Reads a single row with the header that was kept with it. */
export function csvLine(header: string, bytes: Buffer, as: RowReading = 'records'): Read {
  const rows = new CsvRows(separatorIn(header) ?? COMMA);
  const [first, ...following] = [...rows.take(Buffer.from(`${header}\n`)), ...rows.take(bytes), ...rows.end()];
  const read = first && readHeader(first, as);
  if (read === undefined || 'fault' in read) return read ?? { fault: HEADER_NOT_CSV };
  const [row] = following;
  return row && following.length === 1 ? readRow(read, row, as) : { fault: 'The text is not one row of CSV.' };
}

async function* csvRows(content: AsyncIterable<Buffer>): AsyncGenerator<CsvRow[]> {
  const { found, bytes } = await readAhead(content, separatorOf);
  const rows = new CsvRows(found);
  for await (const chunk of bytes) yield rows.take(chunk);
  yield rows.end();
}

/** Null when the header may be longer. */
function separatorOf(head: Buffer, isAll: boolean): number | null {
  const text = head.toString('latin1');
  return isAll || head.length > MAX_LINE_BYTES || /[\r\n]/.test(text.trimStart()) ? (separatorIn(text) ?? COMMA) : null;
}

/** Returns null when it is not UTF-8. */
function decode(bytes: string): string | null {
  // Nearly all cells are ASCII, which needs no decoding.
  if (!/[\u0080-\u00ff]/.test(bytes)) return bytes;
  try {
    return UTF8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return null;
  }
}

function readHeader(row: CsvRow, as: RowReading): Header | { readonly fault: string } {
  if ('fault' in row) return { fault: HEADER_NOT_CSV };
  const columns: string[] = [];
  for (const cell of row.cells) {
    const column = decode(cell);
    if (column === null || column.includes('\0')) return { fault: 'The header is not UTF-8.' };
    columns.push(column);
  }
  const fault = faultOfColumns(columns, as);
  if (fault !== null) return { fault };
  return {
    text: row.bytes?.toString() ?? '',
    columns: columns.map((name) => ({ name, path: name.split('.') })),
  };
}

/** Names no column by its text: without a header, the first row holds values, which a record of the import must not keep. */
function faultOfColumns(columns: readonly string[], as: RowReading): string | null {
  if (columns.length === 1) return 'The header has one column: a comma, a semicolon or a tab separates columns.';
  const numbers = new Map<string, number>();
  for (const [index, name] of columns.entries()) {
    const before = numbers.get(name);
    if (name !== '' && before !== undefined)
      return `Columns ${before} and ${index + 1} of the header have the same name.`;
    if (as === 'records' && isDeep(name)) return `Column ${index + 1} of the header is deeper than any member.`;
    numbers.set(name, index + 1);
  }
  if (as === 'items') return null;
  const missing = REQUIRED.find((column) => !numbers.has(column));
  return missing === undefined ? null : `The header has no column ${missing}; columns are named in the first line.`;
}

/** `tags.0.key` has the maximum depth. */
const isDeep = (column: string): boolean => column.split('.', DEEPEST + 1).length > DEEPEST;

function readRow({ columns }: Header, row: CsvRow, as: RowReading): Read {
  if ('fault' in row) return { fault: row.fault };
  const { cells } = row;
  if (cells.length !== columns.length) {
    return { fault: `The row is not CSV: it has ${cells.length} cells, and the header has ${columns.length}.` };
  }
  // Without a prototype, so that a column `__proto__` is refused like any other unknown one.
  const value = Object.create(null) as Record<string, unknown>;
  for (const [index, { name, path }] of columns.entries()) {
    if (cells[index] === '') continue;
    const cell = decode(cells[index] ?? '');
    if (cell === null) return { fault: 'The row is not UTF-8.' };
    if (as === 'items') {
      value[name] = cell;
      continue;
    }
    if (!place(value, path, name === 'tags' ? jsonOr(cell) : cell)) {
      return { fault: `Column ${index + 1} of the row and one before it give the same member.` };
    }
  }
  if (as === 'items') return { value };
  readBooleans(value);
  // Columns tags.0.key, tags.2.key … have produced an object with numeric names.
  const { tags } = value;
  if (typeof tags === 'object' && tags !== null && !Array.isArray(tags)) value['tags'] = Object.values(tags);
  return { value };
}

/** The record refuses what is no array. */
function jsonOr(cell: string): unknown {
  try {
    return parseForeignJson(cell);
  } catch {
    return cell;
  }
}

/** Reads the booleans of a record of a row as spreadsheets and databases write them. */
export function readBooleans(record: Cells): void {
  readBoolean(record, 'managed');
  for (const [name, members] of Object.entries(BOOLEANS)) {
    const object = record[name];
    if (typeof object === 'object' && object !== null)
      for (const member of members) readBoolean(object as Cells, member);
  }
}

function readBoolean(object: Cells, member: string): void {
  const cell = object[member];
  if (typeof cell !== 'string') return;
  if (/^(true|yes|t|1)$/i.test(cell)) object[member] = true;
  else if (/^(false|no|f|0)$/i.test(cell)) object[member] = false;
}

/** Returns false where another column gave the member, a part of it, or all that it is a part of. */
function place(target: Record<string, unknown>, path: readonly string[], content: unknown): boolean {
  let object = target;
  for (const name of path.slice(0, -1)) {
    const inner: unknown = Object.hasOwn(object, name) ? object[name] : Object.create(null);
    // What has a prototype is the JSON of a cell.
    if (typeof inner !== 'object' || inner === null || Object.getPrototypeOf(inner) !== null) return false;
    object[name] = inner;
    object = inner as Record<string, unknown>;
  }
  const last = path.at(-1) ?? '';
  if (Object.hasOwn(object, last)) return false;
  object[last] = content;
  return true;
}
