import { type ParsedUrlQuery, parse } from 'node:querystring';
import type { Request, Response } from 'express';
import { DomainError } from '#libs/kernel';
import { BodyRefused } from '../server/incoming-body';

export const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded';
const MAX_BODY_BYTES = 262_144;
/** Time for the whole body to arrive. Shorter than the time for a whole request. */
const BODY_MS = 10_000;
const EXPECTS_CONTINUE = /^100-continue$/i;
const UTF_8 = /^utf-?8$/i;
/** Headers that describe an encoding of the body, with the value that stands for none. */
const PLAIN_ENCODINGS = [
  ['Content-Encoding', 'identity'],
  ['Transfer-Encoding', 'chunked'],
] as const;

/**
 * Reads the whole body. Called only after the caller was accepted.
 * @throws `unsupported_media_type` for a compressed body or another media type, `payload_too_large` above the limit,
 * and `validation_failed` for a body that does not arrive completely within ten seconds
 */
export async function readBody<MediaType extends string>(
  request: Request,
  response: Response,
  mediaTypes: readonly MediaType[],
  maxBytes = MAX_BODY_BYTES,
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
    throw unsupported(header, 'is not accepted: send the body uncompressed.');
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  // An HTTP/1.0 client would take the 100 for the final response (RFC 9110, 10.1.1).
  const mayWait = request.httpVersion !== '1.0' && EXPECTS_CONTINUE.test(request.headers.expect ?? '');
  if (mayWait) response.writeContinue();
  try {
    return { mediaType, bytes: await request.incomingBody.read(maxBytes, BODY_MS) };
  } catch (error) {
    throw error instanceof BodyRefused ? REFUSALS[error.reason](maxBytes) : error;
  }
}

/**
 * Reads a form. A repeated parameter becomes an array.
 * @throws `unsupported_media_type`, `payload_too_large`, and `validation_failed` for a form that does not arrive whole
 */
export async function readForm(request: Request, response: Response, maxBytes: number): Promise<ParsedUrlQuery> {
  const { bytes } = await readBody(request, response, [FORM_MEDIA_TYPE], maxBytes);
  return parse(bytes.toString('utf8'), '&', '=', { maxKeys: 0 });
}

const tooLarge = (maxBytes: number): DomainError =>
  new DomainError('payload_too_large', `The body is larger than ${maxBytes} bytes.`);
const malformed = (detail: string) => (): DomainError => new DomainError('validation_failed', detail);
const REFUSALS: Readonly<Record<BodyRefused['reason'], (maxBytes: number) => DomainError>> = {
  'too large': tooLarge,
  'too many pieces': malformed('The body came in too many pieces.'),
  'too late': malformed('The body did not arrive in time.'),
  'cut off': malformed('The body did not arrive whole.'),
};

function charsetOf(contentType: string): string {
  return /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1] ?? 'utf-8';
}

function unsupported(header: string, what: string): DomainError {
  const detail = `${header} ${what}`;
  return new DomainError('unsupported_media_type', detail, [{ header, code: 'choice', detail }]);
}
