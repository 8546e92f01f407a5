import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { PublishedEvent } from '../domain/published-event';

/** Domain separation of leaves from inner nodes (RFC 9162, 2.1.1). */
const LEAF = Buffer.of(0);

/** The leaf of an event in the Merkle tree: SHA-256 of 0x00 and the RFC 8785 form, in lower-case hexadecimal. */
export function leafHash(event: PublishedEvent): string {
  return createHash('sha256')
    .update(LEAF)
    .update(canonicalize(event) ?? '')
    .digest('hex');
}
