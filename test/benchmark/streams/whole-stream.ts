import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Site } from '../paths/site';

const ASSETS = '/v1/inventory/assets';
const NEWLINE = 0x0a;
/** Longer than any end line. */
const TAIL_BYTES = 64;

export interface WholeStream {
  readonly rows: number;
  readonly seconds: number;
}

/**
 * Reads a stream of all assets as fast as it comes, and looks at its last line only.
 * @throws unless it is complete
 */
export async function readWhole(
  { server, authorization, path = ASSETS }: Pick<Site, 'server' | 'authorization'> & { readonly path?: string },
  onPiece: (bytes: number) => void = () => undefined,
): Promise<WholeStream> {
  const since = performance.now();
  const response = await openStream(server.port, authorization, path);
  let tail: Buffer = Buffer.alloc(0);
  for await (const piece of response as AsyncIterable<Buffer>) {
    tail = piece.length < TAIL_BYTES ? Buffer.concat([tail, piece]).subarray(-TAIL_BYTES) : piece.subarray(-TAIL_BYTES);
    onPiece(piece.length);
  }
  const line = tail.subarray(tail.lastIndexOf(NEWLINE, -2) + 1).toString();
  const { type, count } = JSON.parse(line) as { type: string; count: number };
  if (type !== 'end') throw new Error(`A stream ended with ${line}`);
  return { rows: count, seconds: (performance.now() - since) / 1_000 };
}

/** Reads only the first lines of a stream. */
export async function readBeginning(
  { server, authorization }: Pick<Site, 'server' | 'authorization'>,
  lines: number,
): Promise<string[]> {
  const response = await openStream(server.port, authorization);
  let text = '';
  for await (const piece of response as AsyncIterable<Buffer>) {
    text += piece.toString();
    if (text.split('\n').length > lines) break;
  }
  return text.split('\n').slice(0, lines);
}

async function openStream(port: number, authorization: string, path = ASSETS): Promise<IncomingMessage> {
  const sent = request({
    ...{ host: '127.0.0.1', port, path, agent: false },
    headers: { Accept: 'application/x-ndjson', Authorization: authorization },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`The response to a stream request was ${response.statusCode}.`);
  return response;
}
