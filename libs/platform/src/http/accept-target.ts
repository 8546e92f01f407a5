import type { IncomingMessage } from 'node:http';
import { DomainError } from '#libs/kernel';

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/**
 * Makes a request target safe to route. The absolute form (RFC 9112, 3.2.2) is accepted; a path whose percent-encoding
 * does not decode is taken literally, so that its route still asks for the token before anything is said of the path.
 * Throws `validation_failed` for a request without a Host header (RFC 9112, 3.2).
 */
export function acceptTarget(request: IncomingMessage): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new DomainError('validation_failed', 'The Host header is required.', [
      { header: 'Host', code: 'required', detail: 'The Host header is required.' },
    ]);
  }
  const target = (request.url ?? '/').replace(ABSOLUTE_FORM, '');
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  request.url = (decodes(path) ? path : path.replaceAll('%', '%25')) + (query === -1 ? '' : target.slice(query));
  if (!request.url.startsWith('/')) request.url = `/${request.url}`;
}

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
