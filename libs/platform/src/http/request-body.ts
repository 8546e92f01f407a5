import type { Request, Response } from 'express';
import getRawBody from 'raw-body';
import { DomainError } from '#libs/kernel';

export const MAX_BODY_BYTES = 262_144;

/**
 * Reads the whole body of a request whose caller was already accepted. Throws `unsupported_media_type` unless the body
 * is uncompressed and of one of the media types, and `payload_too_large` beyond 256 KiB.
 */
export async function readBody(
  request: Request,
  response: Response,
  mediaTypes: readonly string[],
): Promise<{ readonly mediaType: string; readonly bytes: Buffer }> {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (!mediaTypes.includes(mediaType) || encoding !== 'identity') {
    throw new DomainError('unsupported_media_type', `The body must be ${mediaTypes.join(' or ')}, uncompressed.`, [
      mediaTypes.includes(mediaType)
        ? { header: 'Content-Encoding', code: 'choice', detail: 'Content-Encoding must be absent.' }
        : { header: 'Content-Type', code: 'choice', detail: `Content-Type must be ${mediaTypes.join(' or ')}.` },
    ]);
  }
  try {
    return { mediaType, bytes: await getRawBody(request, { limit: MAX_BODY_BYTES, length: contentLength(request) }) };
  } catch (error) {
    // What is left of the body is not read, so the connection cannot carry another request.
    response.setHeader('Connection', 'close');
    if ((error as { type?: unknown }).type === 'entity.too.large') {
      throw new DomainError('payload_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`);
    }
    throw new DomainError('validation_failed', 'The body did not arrive whole.');
  }
}

function contentLength(request: Request): string | null {
  return request.headers['content-length'] ?? null;
}
