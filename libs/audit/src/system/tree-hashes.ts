import { hash } from 'node:crypto';
import type { TreeHashes } from '../domain/audit-tree';
import { leafHash } from './leaf-hash';

/** Keeps a leaf from passing for a node (RFC 9162, 2.1.1). */
const NODE = Buffer.of(1);

const sha256 = (...parts: readonly Buffer[]): string => hash('sha256', Buffer.concat(parts));

/** SHA-256, as in RFC 9162. */
export const treeHashes: TreeHashes = {
  empty: sha256(),
  leaf: leafHash,
  node: (left, right) => sha256(NODE, Buffer.from(left, 'hex'), Buffer.from(right, 'hex')),
};
