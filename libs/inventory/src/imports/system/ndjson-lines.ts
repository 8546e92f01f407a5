import { parseForeignJson } from '#libs/kernel';
import { type InputLine, MAX_LINE_BYTES } from '../domain/import-files.port';
import { type KeptLine, isKeptLine } from '../domain/kept-line';
import { csvLine } from './csv-lines';

/**
 * A kept line holds a line and a header. JSON turns each byte into six at most. The remainder is for number and reason.
 */
export const MAX_KEPT_BYTES = 13 * MAX_LINE_BYTES;
const TOO_LONG = `The line is longer than ${MAX_LINE_BYTES} bytes.`;
const NEWLINE = 10;

/** Readers of the text of a line, and of a row of CSV that was kept with its header. */
interface Reading {
  /** @throws when the text is not JSON */
  readonly json: (text: string) => unknown;
  readonly csv: typeof csvLine;
}

const AS_RECORDS: Reading = { json: parseForeignJson, csv: csvLine };

/**
 * Reads one JSON value per line. A line that is too long, not UTF-8 or not JSON is reported as a fault, and reading
 * continues.
 */
export async function* ndjsonLines(
  content: AsyncIterable<Buffer>,
  fileIndex: number,
  reading = AS_RECORDS,
): AsyncGenerator<InputLine[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const finish = (): InputLine | null => {
    line += 1;
    const bytes = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending);
    const tooLong = pendingBytes > MAX_KEPT_BYTES;
    pending = [];
    pendingBytes = 0;
    if (tooLong) return { fileIndex, line, fault: TOO_LONG };
    return parseLine(fileIndex, line, bytes, decoder, reading);
  };
  const keep = (part: Buffer): void => {
    pendingBytes += part.length;
    // Only the length of an oversized line matters.
    if (pendingBytes <= MAX_KEPT_BYTES) pending.push(part);
    else pending = [];
  };
  for await (const chunk of content) {
    const finished: InputLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const read = finish();
      if (read) finished.push(read);
    }
    keep(chunk.subarray(start));
    if (finished.length > 0) yield finished;
  }
  const last = pendingBytes > 0 ? finish() : null;
  if (last) yield [last];
}

function parseLine(
  fileIndex: number,
  line: number,
  bytes: Buffer,
  decoder: InstanceType<typeof TextDecoder>,
  reading: Reading,
): InputLine | null {
  const tooLong = bytes.length > MAX_LINE_BYTES ? { fileIndex, line, fault: TOO_LONG } : null;
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    return tooLong ?? { fileIndex, line, bytes, fault: 'The line is not UTF-8.' };
  }
  if (text === '') return tooLong;
  let value: unknown;
  try {
    value = reading.json(text);
  } catch (error) {
    const fault = error instanceof RangeError ? `The line ${error.message}.` : 'The line is not JSON.';
    return tooLong ?? { fileIndex, line, bytes, fault };
  }
  if (!isKeptLine(value)) return tooLong ?? { fileIndex, line, bytes, value };
  return { again: true, ...readKeptLine(fileIndex, line, value, decoder, reading) };
}

function readKeptLine(
  fileIndex: number,
  line: number,
  { header, text, base64 }: KeptLine,
  decoder: InstanceType<typeof TextDecoder>,
  reading: Reading,
): InputLine {
  const bytes = text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text);
  if (header !== undefined) return { fileIndex, line, bytes, header, ...reading.csv(header, bytes) };
  const empty = { fileIndex, line, bytes, fault: 'The line is empty.' };
  return parseLine(fileIndex, line, bytes, decoder, reading) ?? empty;
}
