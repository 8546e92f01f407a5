import type { PublishedEvent } from './published-event';

/** Hashes of RFC 9162, 2.1.1, in hexadecimal. */
export interface TreeHashes {
  /** The root of a tree without leaves. */
  readonly empty: string;
  /** The hash of a leaf. */
  leaf(event: PublishedEvent): string;
  /** The hash of a node with two children. */
  node(left: string, right: string): string;
}

/**
 * A Merkle tree without its leaves: the roots of its largest complete subtrees, from left to right. It suffices to
 * append leaves and to compute the root. A tree of n leaves has as many roots as n has binary ones.
 */
export interface TreeFrontier {
  /** Number of leaves. */
  readonly size: number;
  readonly roots: readonly string[];
}

export const EMPTY_TREE: TreeFrontier = { size: 0, roots: [] };

/** Returns the frontier with these leaf hashes appended. Costs at most one node for each leaf, on average. */
export function appendLeaves(before: TreeFrontier, leafHashes: readonly string[], hashes: TreeHashes): TreeFrontier {
  const roots = [...before.roots];
  let { size } = before;
  for (const leafHash of leafHashes) {
    let root = leafHash;
    // A complete subtree exists for each binary one. Adding the leaf merges those of the trailing ones.
    for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) root = hashes.node(roots.pop() ?? '', root);
    roots.push(root);
    size += 1;
  }
  return { size, roots };
}

/** Returns the root of the whole tree (RFC 9162, 2.1.1). */
export function rootOf({ roots }: TreeFrontier, hashes: TreeHashes): string {
  if (roots.length === 0) return hashes.empty;
  return roots.reduceRight((right, left) => hashes.node(left, right));
}
