import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonBody } from '../http/body/json-body';

/** Part of every fingerprint, so that one made by other rules is never taken for the same. */
const VERSION = 'v1';

/**
 * What makes two requests with one key the same: method, path, media type and the RFC 8785 canonical form of the body
 * (decisions, section 4). White space and the order of members do not matter; null and absent differ. Hexadecimal.
 */
export function fingerprintOf(method: string, path: string, body: JsonBody): string {
  return hash('sha256', [VERSION, method, path, body.mediaType, canonicalize(body.value)].join('\n'));
}
