/** Reads the body of somebody else's response, which may have no end. Returns null for more than `most` bytes. */
export async function readForeignBody(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > most) return null;
  }
  return Buffer.concat(chunks);
}
