import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { constants, createGzip, gzip, gzipSync } from 'node:zlib';
import type { StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';

/** A shorter body fits into one packet as it is. */
const MIN_BYTES = 1_000;
/** A stream adds listeners to those of every response. Node takes more than ten for a leak. */
const MAX_LISTENERS = 20;
/** Half the time of zlib's default for some 4 % more bytes. */
const LEVEL = 3;

/** The body as gzip when its route offers that by `Vary: Accept-Encoding` and the client accepts it. */
export function compressed(response: Response, body: string | Uint8Array): string | Uint8Array {
  if (!wantsGzip(response) || Buffer.byteLength(body) < MIN_BYTES) return body;
  response.setHeader('Content-Encoding', 'gzip');
  return gzipSync(body, { level: LEVEL });
}

/** The same for a large body. Another thread compresses it. */
export async function compressedElsewhere(response: Response, body: Buffer): Promise<Buffer> {
  if (!wantsGzip(response)) return body;
  response.setHeader('Content-Encoding', 'gzip');
  return compress(body, { level: LEVEL });
}

/**
 * Sends a body of any length, as fast as the client reads. Each piece is compressed to its end, so that none waits for
 * the next. A body that fails closes the connection, and a connection that is lost closes the body.
 */
export function sendStream(response: Response, file: StreamableFile): Response {
  const body = file.getStream();
  response.setHeader('Content-Type', file.getHeaders().type);
  response.setMaxListeners(MAX_LISTENERS);
  if (!wantsGzip(response)) return pipeline(body, response, ignore);
  response.setHeader('Content-Encoding', 'gzip');
  return pipeline(body, createGzip({ level: LEVEL, flush: constants.Z_SYNC_FLUSH }), response, ignore);
}

const compress = promisify(gzip) as (body: Buffer, options: { readonly level: number }) => Promise<Buffer>;

const wantsGzip = (response: Response): boolean => acceptsGzip(response.req) && isOffered(response);

const acceptsGzip = (request: Request): boolean =>
  request.headers['accept-encoding'] !== undefined && request.acceptsEncodings('gzip', 'identity') === 'gzip';

/** Lists offer it. */
const isOffered = (response: Response): boolean => /accept-encoding/i.test(String(response.getHeader('Vary')));

/** Whoever made the body knows how it ended. */
const ignore = (): void => undefined;
