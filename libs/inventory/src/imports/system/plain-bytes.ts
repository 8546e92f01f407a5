import { Readable, pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { readAhead } from './read-ahead';

/** Two byte order marks of UTF-8: a tool may add one to a text that has one. */
const LONGEST_MARKS = 6;
const GZIP = Buffer.of(0x1f, 0x8b);
const MARKS = {
  'utf-8': Buffer.of(0xef, 0xbb, 0xbf),
  'utf-16le': Buffer.of(0xff, 0xfe),
  'utf-16be': Buffer.of(0xfe, 0xff),
};
const NOTHING = Buffer.alloc(0);
/** Matches no half of a whole pair. */
const HALF_OF_A_PAIR = /[\ud800-\udfff]/u;
/** A byte that UTF-8 has not. */
const NO_CHARACTER = Buffer.of(0xff);

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
  readAhead(content, (head, isAll) => (isAll || head.length >= LONGEST_MARKS ? head : null));

const startsWith = (head: Buffer, mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark);

async function* inUtf8(head: Buffer, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const [encoding, mark] = Object.entries(MARKS).find(([, mark]) => startsWith(head, mark)) ?? ['utf-8', NOTHING];
  const marks = startsWith(head, Buffer.concat([mark, mark])) ? 2 : 1;
  const content = withoutMarks(bytes, marks * mark.length);
  yield* encoding === 'utf-8' ? content : fromUtf16(content, encoding === 'utf-16be');
}

async function* withoutMarks(bytes: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let skipped = length;
  for await (const chunk of bytes) {
    yield chunk.subarray(skipped);
    skipped = 0;
  }
}

async function* fromUtf16(bytes: AsyncIterable<Buffer>, isBigEndian: boolean): AsyncGenerator<Buffer> {
  const decoder = new StringDecoder('utf16le');
  let odd = NOTHING;
  for await (const chunk of bytes) {
    const units = Buffer.concat([odd, chunk]);
    const end = units.length - (units.length % 2);
    odd = units.subarray(end);
    const whole = units.subarray(0, end);
    yield utf8Of(decoder.write(isBigEndian ? whole.swap16() : whole));
  }
  yield utf8Of(decoder.end());
  if (odd.length > 0) yield NO_CHARACTER;
}

/** Half of a pair is not mended unseen: its line is a bad one, like others with bytes that are not UTF-8. */
function utf8Of(text: string): Buffer {
  const [first = '', ...others] = text.split(HALF_OF_A_PAIR);
  return Buffer.concat([Buffer.from(first), ...others.flatMap((part) => [NO_CHARACTER, Buffer.from(part)])]);
}
