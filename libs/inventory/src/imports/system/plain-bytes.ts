import { Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readAhead } from './read-ahead';

const BYTE_ORDER_MARK_BYTES = 3;
const GZIP = Buffer.of(0x1f, 0x8b);
const MARKS = {
  'utf-8': Buffer.of(0xef, 0xbb, 0xbf),
  'utf-16le': Buffer.of(0xff, 0xfe),
  'utf-16be': Buffer.of(0xfe, 0xff),
};
const NOTHING = Buffer.alloc(0);
/** Higher bytes of the first half of a surrogate pair. */
const FIRST_HALVES = { first: 0xd8, last: 0xdb };
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
  readAhead(content, (head, isAll) => (isAll || head.length >= BYTE_ORDER_MARK_BYTES ? head : null));

const startsWith = (head: Buffer, mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark);

async function* inUtf8(head: Buffer, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const [encoding, mark] = Object.entries(MARKS).find(([, mark]) => startsWith(head, mark)) ?? ['utf-8', NOTHING];
  const content = withoutMark(bytes, mark.length);
  yield* encoding === 'utf-8' ? content : fromUtf16(content, encoding === 'utf-16be');
}

async function* withoutMark(bytes: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let skipped = length;
  for await (const chunk of bytes) {
    yield chunk.subarray(skipped);
    skipped = 0;
  }
}

async function* fromUtf16(bytes: AsyncIterable<Buffer>, isBigEndian: boolean): AsyncGenerator<Buffer> {
  const textOf = (units: Buffer): string => (isBigEndian ? units.swap16() : units).toString('utf16le');
  let rest = NOTHING;
  for await (const chunk of bytes) {
    const units = Buffer.concat([rest, chunk]);
    const whole = units.length - (units.length % 2);
    const highest = units[isBigEndian ? whole - 2 : whole - 1] ?? 0;
    // The second half of a pair may be in the next chunk.
    const end = FIRST_HALVES.first <= highest && highest <= FIRST_HALVES.last ? whole - 2 : whole;
    rest = Buffer.from(units.subarray(end));
    yield utf8Of(textOf(units.subarray(0, end)));
  }
  const isCut = rest.length % 2 === 1;
  yield utf8Of(textOf(rest.subarray(0, isCut ? -1 : undefined)));
  if (isCut) yield NO_CHARACTER;
}

/** Half of a pair is not mended unseen: its line is a bad one, like others with bytes that are not UTF-8. */
function utf8Of(text: string): Buffer {
  const [first = '', ...others] = text.split(HALF_OF_A_PAIR);
  return Buffer.concat([Buffer.from(first), ...others.flatMap((part) => [NO_CHARACTER, Buffer.from(part)])]);
}
