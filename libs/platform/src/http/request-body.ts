import type { Request, Response } from 'express';
import getRawBody from 'raw-body';
import { DomainError } from '#libs/kernel';

export const MAX_BODY_BYTES = 262_144;
const UTF_8 = /^utf-?8$/i;
/** Headers that say how the bytes of the body are wrapped, and what they say of those that are not. */
const PLAIN_ENCODINGS = [
  ['Content-Encoding', 'identity'],
  ['Transfer-Encoding', 'chunked'],
] as const;

/**
 * Reads the whole body of a request whose caller was already accepted. Throws `unsupported_media_type` unless the body
 * is uncompressed and of one of the media types, and `payload_too_large` beyond 256 KiB.
 */
export async function readBody<MediaType extends string>(
  request: Request,
  response: Response,
  mediaTypes: readonly MediaType[],
): Promise<{ readonly mediaType: MediaType; readonly bytes: Buffer }> {
  const sent = request.headers['content-type'] ?? '';
  const essence = sent.split(';', 1)[0]?.trim().toLowerCase();
  const mediaType = mediaTypes.find((one) => one === essence);
  if (mediaType === undefined || !UTF_8.test(charsetOf(sent))) {
    throw unsupported('Content-Type', `must be ${mediaTypes.join(' or ')}, in UTF-8.`);
  }
  if ((request.headersDistinct['content-type']?.length ?? 0) > 1)
    throw unsupported('Content-Type', 'must be given once.');
  for (const [header, plain] of PLAIN_ENCODINGS) {
    // Names of codings are case-insensitive (RFC 9110, 8.4.1; RFC 9112, 7).
    if (String(request.headers[header.toLowerCase()] ?? plain).toLowerCase() === plain) continue;
    throw unsupported(header, 'must be absent: a compressed body is not read.');
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

function charsetOf(contentType: string): string {
  return /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8';
}

function unsupported(header: string, what: string): DomainError {
  const detail = `${header} ${what}`;
  return new DomainError('unsupported_media_type', detail, [{ header, code: 'choice', detail }]);
}

function contentLength(request: Request): string | null {
  return request.headers['content-length'] ?? null;
}
