import type { IncomingMessage } from 'node:http';
import { ValidationFailed } from '#libs/kernel';

/**
 * RFC 9110, 8.8.3, with what separates it from the next: also empty elements, which count for nothing (5.6.1). A weak tag is
 * well-formed, and matches nothing where strong comparison is asked for.
 */
const ENTITY_TAG = /^\s*((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,[\s,]*|$)/;

/** The strong entity tag of a version. */
export const entityTagOf = (version: number): string => `"${version}"`;

/**
 * The condition of the request's If-Match (RFC 9110, 13.1.1): whether the current version is one that the client names.
 * Without the header, and for `*`, any version is. Throws `validation_failed` when the header is malformed.
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

/** A route whose resource has no entity tag refuses the header, rather than ignore what was meant as a safeguard. */
export function refuseIfMatch(request: IncomingMessage): void {
  if (request.headers['if-match'] !== undefined) throw malformed('applies to a single resource only.');
}

function malformed(what: string): ValidationFailed {
  return new ValidationFailed([{ header: 'If-Match', code: 'format', detail: `If-Match ${what}` }]);
}
