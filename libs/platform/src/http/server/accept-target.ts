import type { IncomingMessage } from 'node:http';
import { DomainError } from '#libs/kernel';
import { partsOf } from '../request-context';

/** A name, an IPv4 address or a bracketed IPv6 address, with an optional port (RFC 3986, 3.2.2). May be empty. */
const HOST = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*|\[[\da-fv.:]+\])(?::\d*)?$/i;
/** Each header costs time, however short it is. */
export const MAX_HEADERS = 200;

/**
 * Makes a request target safe to route. Accepts the absolute form (RFC 9112, 3.2.2). Takes a path with invalid
 * percent-encoding literally, so that its route still requires the token first.
 * @throws `validation_failed` without exactly one well-formed Host header (RFC 9112, 3.2) and for HTTP/1.0 with
 * Transfer-Encoding
 * @throws `headers_too_large` for too many headers
 */
export function acceptTarget(request: IncomingMessage): void {
  if (hasTooManyHeaders(request)) {
    throw new DomainError('headers_too_large', `There are more than ${MAX_HEADERS} headers.`);
  }
  const hosts = request.headersDistinct['host'] ?? [];
  if (hosts.length === 0 && request.httpVersion === '1.1')
    throw refused('Host', 'required', 'The Host header is required.');
  if (hosts.length > 1) throw refused('Host', 'duplicated', 'The Host header must be given once.');
  if (!HOST.test(hosts[0] ?? '')) throw refused('Host', 'format', 'The Host header is malformed.');
  // The length of such a body is unknown (RFC 9112, 6.1).
  if (request.httpVersion === '1.0' && request.headers['transfer-encoding'] !== undefined) {
    throw refused('Transfer-Encoding', 'format', 'HTTP/1.0 has no Transfer-Encoding.');
  }
  const { path, query } = partsOf(request.url ?? '/');
  request.url = (decodes(path) ? path : path.replaceAll('%', '%25')) + query;
  if (!request.url.startsWith('/')) request.url = `/${request.url}`;
}

/** Removes scheme and authority from a target (RFC 9112, 3.2.2). Express calls no middleware for one that it cannot read. */
export function takeAbsoluteForm(request: IncomingMessage): void {
  const { path, query } = partsOf(request.url ?? '/');
  request.url = path + query;
}

/** Names and values alternate. */
export const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length > 2 * MAX_HEADERS;

function refused(header: string, code: string, detail: string): DomainError {
  return new DomainError('validation_failed', detail, [{ header, code, detail }]);
}

/** Tells whether the text is percent-encoded UTF-8. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
