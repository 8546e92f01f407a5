import type { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import type { Line } from './ndjson-lines';

const BOOLEANS = new Set([
  'managed',
  'compliance.antivirusInstalled',
  'compliance.diskEncryptionEnabled',
  'compliance.passwordManagerInstalled',
  'compliance.screenLockEnabled',
  'dataStored.containsPatientData',
  'dataStored.containsUserData',
]);

interface CsvRow {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/**
 * One record a row; columns are named by their path (`compliance.agentVersion`, `tags.0.key`), `tags` alone holds a JSON
 * array. An empty cell is absent. A row that does not parse is a fault, and the next one is read.
 */
export async function* csvLines(content: Readable): AsyncGenerator<Line> {
  const faults: Line[] = [];
  const rows = content.pipe(
    parse({
      columns: true,
      bom: true,
      info: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      max_record_size: 1_048_576,
      on_skip: (error) => {
        faults.push({
          line: Number(error?.['lines'] ?? 0),
          fault: `The row is not CSV: ${error?.message ?? 'unreadable'}`,
        });
        return undefined;
      },
    }),
  );
  content.on('error', (error) => rows.destroy(error));
  for await (const { record, info } of rows as AsyncIterable<CsvRow>) {
    yield* faults.splice(0);
    yield { line: info.lines, ...readRow(record) };
  }
  yield* faults.splice(0);
}

function readRow(row: Readonly<Record<string, string>>): { readonly value: unknown } | { readonly fault: string } {
  const value: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(row)) {
    if (cell === '') continue;
    let content: unknown = BOOLEANS.has(column) && /^(true|false)$/.test(cell) ? cell === 'true' : cell;
    if (column === 'tags') {
      try {
        content = JSON.parse(cell);
      } catch {
        return { fault: 'tags is not a JSON array.' };
      }
    }
    place(value, column.split('.'), content);
  }
  // Columns tags.0.key, tags.2.key … made an object with numbers for names.
  const { tags } = value;
  if (typeof tags === 'object' && tags !== null && !Array.isArray(tags)) value['tags'] = Object.values(tags);
  return { value };
}

function place(target: Record<string, unknown>, path: readonly string[], content: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    target[name] = content;
    return;
  }
  const inner = Object.hasOwn(target, name) ? target[name] : undefined;
  const object = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
  target[name] = object;
  place(object, rest, content);
}
