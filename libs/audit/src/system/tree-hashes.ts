import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { TreeHashes } from '../domain/audit-tree';

/** Keep a leaf from passing for a node (RFC 9162, 2.1.1). */
const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

const sha256 = (...parts: readonly Buffer[]): string => hash('sha256', Buffer.concat(parts));

/** SHA-256, as in RFC 9162. A leaf is the RFC 8785 form of its event. */
export const treeHashes: TreeHashes = {
  empty: sha256(),
  leaf: (event) => sha256(LEAF, Buffer.from(canonicalize(event) as string)),
  node: (left, right) => sha256(NODE, Buffer.from(left, 'hex'), Buffer.from(right, 'hex')),
};
