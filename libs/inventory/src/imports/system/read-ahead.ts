/** Bytes that are handed out at once. What a reader makes of them takes a hundred times as much memory. */
const CHUNK = 65_536;

/**
 * Reads until `find` knows enough, which it tells by another value than null, and hands out all bytes again. `isAll`: no
 * more bytes come, so `find` must decide.
 */
export async function readAhead<Found>(
  content: AsyncIterable<Buffer>,
  find: (head: Buffer, isAll: boolean) => Found | null,
): Promise<{ readonly found: Found; readonly bytes: AsyncIterable<Buffer> }> {
  const chunks = content[Symbol.asyncIterator]();
  let read: Buffer[] = [];
  let head = Buffer.alloc(0);
  let found: Found | null = null;
  let isAll = false;
  for (let length = 0; found === null;) {
    const next = await chunks.next();
    isAll = next.done === true;
    if (next.done !== true) {
      read.push(next.value);
      length += next.value.length;
    }
    // Looks again when there is twice as much: each look reads all of it.
    if (!isAll && length < 2 * head.length) continue;
    head = Buffer.concat(read);
    read = [head];
    found = find(head, isAll);
    if (isAll && found === null) throw new Error('Nobody can tell more of a file that ended.');
  }
  const bytes = (async function* () {
    for (let at = 0; at < head.length; at += CHUNK) yield head.subarray(at, at + CHUNK);
    head = Buffer.alloc(0);
    if (!isAll) yield* { [Symbol.asyncIterator]: () => chunks };
  })();
  return { found, bytes };
}
