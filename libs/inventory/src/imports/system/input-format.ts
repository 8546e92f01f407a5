import { parseForeignJson } from '#libs/kernel';
import { type Format, MAX_LINE_BYTES } from '../domain/import-files.port';
import { isKeptLine } from '../domain/kept-line';
import { separatorIn } from './csv-rows';
import { isStartOfJson } from './maps/json-items';
import { MAX_KEPT_BYTES } from './ndjson-lines';
import { readAhead } from './read-ahead';

const NEWLINE = 10;
/** A file of bad lines begins so. */
const KEPT = /^\s*\{\s*"(?:file|line)"\s*:/;
const BLANK = /^\s*$/;

/** Facts on a file after its first line. */
export interface Start {
  /** The first line that is not blank, or its beginning. */
  readonly line: string;
  /** Its value, undefined when it is not JSON, and null when it has too many levels. */
  readonly value: unknown;
  /** True when something else follows it. */
  readonly more: boolean;
  /** True when the line and what was read after it may be the beginning of one JSON document, and the line alone is none. */
  readonly unfinished: boolean;
}

/** Reads as far as the first line goes. */
export async function opened(
  content: AsyncIterable<Buffer>,
): Promise<{ readonly start: Start; readonly bytes: AsyncIterable<Buffer> }> {
  const { found, bytes } = await readAhead(content, firstLine);
  const value = parsed(found.line);
  const unfinished = value === undefined && isStartOfJson(found.line + found.rest);
  return { start: { line: found.line, value, more: !BLANK.test(found.rest), unfinished }, bytes };
}

/** Null when more bytes are needed. */
function firstLine(head: Buffer, isAll: boolean): { readonly line: string; readonly rest: string } | null {
  const text = head.toString();
  const from = text.search(/\S/);
  const isLong = head.length > (KEPT.test(text) ? MAX_KEPT_BYTES : MAX_LINE_BYTES);
  if (from === -1) return isAll || isLong ? { line: '', rest: '' } : null;
  const end = head.indexOf(NEWLINE, Buffer.byteLength(text.slice(0, from)));
  if (end === -1) return isAll || isLong ? { line: text.slice(from), rest: '' } : null;
  const rest = head.toString('utf8', end);
  return isAll || isLong || !BLANK.test(rest) ? { line: head.toString('utf8', 0, end).trimStart(), rest } : null;
}

/** A line that is too deep is a bad line and says so, not the beginning of a document. */
function parsed(line: string): unknown {
  try {
    return parseForeignJson(line);
  } catch (error) {
    return error instanceof RangeError ? null : undefined;
  }
}

const isNamedCsv = (file: string): boolean => /\.csv(\.gz)?$/i.test(file);
const isNamedJson = (file: string): boolean => /\.json(\.gz)?$/i.test(file);
const isNamedNdjson = (file: string): boolean => /\.(ndjson|jsonl)(\.gz)?$/i.test(file);

/** The format of a file of items that holds no bad lines, as its name or its first line tells. */
export function formatOfItems(file: string, { line, value, more }: Start): Format {
  if (isNamedCsv(file)) return 'csv';
  if (line.startsWith('[')) return 'json';
  if (isNamedNdjson(file) || line === '') return 'ndjson';
  if (!line.startsWith('{')) return isNamedJson(file) ? 'json' : 'csv';
  return more && value !== undefined ? 'ndjson' : 'json';
}

/** The format of a file of records, which may be `given`. A JSON document is none, and needs a map. */
export function formatOfRecords(file: string, start: Start, given: Format | null = null): Format {
  const { line, value } = start;
  const isLong = line.length > MAX_LINE_BYTES;
  if (isKeptLine(value)) return 'ndjson';
  if (given !== null) return given;
  if (isNamedCsv(file)) return 'csv';
  if (start.unfinished && start.more && !isLong) return 'json';
  if (isNamedNdjson(file)) return 'ndjson';
  if ((start.unfinished && isLong) || line.startsWith('[') || (!start.more && isAnswer(value))) return 'json';
  return value === undefined && !line.startsWith('{') && separatorIn(line) !== null ? 'csv' : 'ndjson';
}

/** A response of an API has lists or objects, and no member that each record needs. */
function isAnswer(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || 'categoryKey' in value || 'externalId' in value) return false;
  return Object.values(value).some((member) => typeof member === 'object' && member !== null);
}
