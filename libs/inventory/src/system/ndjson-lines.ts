import type { Readable } from 'node:stream';
import type { InputLine } from '../domain/import-files.port';

const MAX_LINE_BYTES = 1_048_576;
const NEWLINE = 10;

/** One JSON value a line. A line that is too long, not UTF-8 or not JSON is a fault, and the next one is read. */
export async function* ndjsonLines(content: Readable, fileIndex: number): AsyncGenerator<InputLine[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const finish = (): InputLine | null => {
    line += 1;
    const bytes = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending);
    const tooLong = pendingBytes > MAX_LINE_BYTES;
    pending = [];
    pendingBytes = 0;
    if (tooLong) return { fileIndex, line, fault: `The line is longer than ${MAX_LINE_BYTES} bytes.` };
    return parseLine(fileIndex, line, bytes, decoder);
  };
  const keep = (part: Buffer): void => {
    pendingBytes += part.length;
    // Of a line that is too long anyway only its length matters.
    if (pendingBytes <= MAX_LINE_BYTES) pending.push(part);
    else pending = [];
  };
  for await (const chunk of content as AsyncIterable<Buffer>) {
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
): InputLine | null {
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    return { fileIndex, line, fault: 'The line is not UTF-8.' };
  }
  if (text === '') return null;
  try {
    return { fileIndex, line, value: JSON.parse(text) as unknown };
  } catch {
    return { fileIndex, line, fault: 'The line is not JSON.' };
  }
}
