import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readAhead } from './read-ahead';

const BYTE_ORDER_MARK_BYTES = 3;
const GZIP = Buffer.of(0x1f, 0x8b);
const UTF8_MARK = Buffer.of(0xef, 0xbb, 0xbf);
const UTF16_MARKS = { 'utf-16le': Buffer.of(0xff, 0xfe), 'utf-16be': Buffer.of(0xfe, 0xff) };

/**
 * Returns the text of a file as UTF-8 without byte order mark. Its first bytes tell gzip, and a mark tells UTF-16, as
 * spreadsheets write it. `isGzip`: the name of the file tells it.
 */
export async function* plainBytes(content: AsyncIterable<Buffer>, isGzip: boolean): AsyncGenerator<Buffer> {
  const { found, bytes } = await beginningOf(content);
  if (!isGzip && !startsWith(found, GZIP)) yield* inUtf8(found, bytes);
  else {
    // Unlike `pipe`, this hands on errors: a file that vanishes half way must fail the import, not end it early.
    const unzipped = pipeline(Readable.from(bytes), createGunzip(), () => undefined);
    const inner = await beginningOf(unzipped);
    yield* inUtf8(inner.found, inner.bytes);
  }
}

const beginningOf = (content: AsyncIterable<Buffer>) =>
  readAhead(content, (head, isAll) => (isAll || head.length >= BYTE_ORDER_MARK_BYTES ? head : null));

const startsWith = (head: Buffer, mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark);

async function* inUtf8(head: Buffer, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for (const [encoding, mark] of Object.entries(UTF16_MARKS)) {
    if (startsWith(head, mark)) {
      yield* decoded(bytes, encoding);
      return;
    }
  }
  let isMarked = startsWith(head, UTF8_MARK);
  for await (const chunk of bytes) {
    yield isMarked ? chunk.subarray(UTF8_MARK.length) : chunk;
    isMarked = false;
  }
}

/** The decoder leaves the mark out. */
async function* decoded(bytes: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of bytes) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}
