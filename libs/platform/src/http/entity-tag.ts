import type { IncomingMessage } from 'node:http';
import { ValidationFailed } from '#libs/kernel';

/**
 * One entity tag (RFC 9110, 8.8.3) and the separator behind it, including empty list elements (5.6.1). A weak tag is
 * well-formed, but strong comparison never matches it.
 */
const ENTITY_TAG = /^\s*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,[\s,]*|$)/;

/** The strong entity tag of a version. */
export const entityTagOf = (version: number): string => `"${version}"`;

/**
 * Reads If-Match (RFC 9110, 13.1.1). Returns a function that tells whether the client named this version. Without the
 * header, and for `*`, every version matches.
 * @throws `validation_failed` for a malformed header
 */
export function ifMatch(request: IncomingMessage): (version: number) => boolean {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return () => true;
  const named = new Set<string>();
  let rest = header.replace(/^[\s,]+/, '');
  do {
    const [read, tag] = ENTITY_TAG.exec(rest) ?? [];
    if (read === undefined || tag === undefined)
      throw malformed('must be * or a list of entity tags, as ETag gives them.');
    named.add(tag);
    rest = rest.slice(read.length);
  } while (rest !== '');
  return (version) => named.has(entityTagOf(version));
}

/** Refuses If-Match on a route whose resource has no entity tag, rather than ignore a safeguard. */
export function refuseIfMatch(request: IncomingMessage): void {
  if (request.headers['if-match'] !== undefined) throw malformed('applies to a single resource only.');
}

function malformed(what: string): ValidationFailed {
  return new ValidationFailed([{ header: 'If-Match', code: 'format', detail: `If-Match ${what}` }]);
}
