import type { Readable } from 'node:stream';

export type Line = { readonly line: number } & ({ readonly value: unknown } | { readonly fault: string });

const MAX_LINE_BYTES = 1_048_576;
const NEWLINE = 10;

/** One JSON value a line. A line that is too long, not UTF-8 or not JSON is a fault, and the next one is read. */
export async function* ndjsonLines(content: Readable): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 0;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const finish = (): Line | null => {
    line += 1;
    const bytes = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending);
    const tooLong = pendingBytes > MAX_LINE_BYTES;
    pending = [];
    pendingBytes = 0;
    if (tooLong) return { line, fault: `The line is longer than ${MAX_LINE_BYTES} bytes.` };
    return parseLine(line, bytes, decoder);
  };
  const keep = (part: Buffer): void => {
    pendingBytes += part.length;
    // Of a line that is too long anyway only its length matters.
    if (pendingBytes <= MAX_LINE_BYTES) pending.push(part);
    else pending = [];
  };
  for await (const chunk of content as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const finished = finish();
      if (finished) yield finished;
    }
    keep(chunk.subarray(start));
  }
  const last = pendingBytes > 0 ? finish() : null;
  if (last) yield last;
}

function parseLine(line: number, bytes: Buffer, decoder: InstanceType<typeof TextDecoder>): Line | null {
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch {
    return { line, fault: 'The line is not UTF-8.' };
  }
  if (text === '') return null;
  try {
    return { line, value: JSON.parse(text) as unknown };
  } catch {
    return { line, fault: 'The line is not JSON.' };
  }
}
