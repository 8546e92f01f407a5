import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonBody } from '../http/body/json-body';

/** Part of every fingerprint, so that fingerprints made by different rules never match. */
const VERSION = 'v1';

/**
 * Returns the hexadecimal fingerprint of a request: method, path, media type and the RFC 8785 canonical form of the
 * body (decisions, section 4). White space and member order do not matter, and neither does the case of an id in the path;
 * null and absent differ.
 */
export function fingerprintOf(method: string, path: string, body: JsonBody): string {
  return hash('sha256', [VERSION, method, path.toLowerCase(), body.mediaType, canonicalize(body.value)].join('\n'));
}
