import { createHash } from 'node:crypto';
import { RFC9162 } from '@transmute/rfc9162';
import { treeHashes } from '../system/tree-hashes';
import { EMPTY_TREE, type TreeFrontier, appendLeaves, rootOf } from './audit-tree';

const sha256 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** The definition of RFC 9162, 2.1.1, word for word. */
function definedRoot(entries: readonly Buffer[]): Buffer {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), entries[0] as Buffer);
  let k = 1;
  while (k * 2 < entries.length) k *= 2;
  return sha256(Buffer.of(1), definedRoot(entries.slice(0, k)), definedRoot(entries.slice(k)));
}

const entry = (place: number): Buffer => Buffer.from(`event ${place}`);
const leaf = (place: number): string => sha256(Buffer.of(0), entry(place)).toString('hex');
const places = (count: number): number[] => Array.from({ length: count }, (_, place) => place);

/** Frontiers of all sizes up to `largest`, each made from the one before. */
function frontiers(largest: number): TreeFrontier[] {
  const all = [EMPTY_TREE];
  for (const place of places(largest)) all.push(appendLeaves(all[place] as TreeFrontier, [leaf(place)], treeHashes));
  return all;
}

describe('AuditTree', () => {
  it('has the root of RFC 9162 for every size up to 260', () => {
    for (const [size, frontier] of frontiers(260).entries()) {
      expect(frontier.size).toBe(size);
      expect([size, rootOf(frontier, treeHashes)]).toEqual([
        size,
        definedRoot(places(size).map(entry)).toString('hex'),
      ]);
    }
  });

  it('has the same root as another implementation', async () => {
    const all = frontiers(1_025);
    for (const size of [1, 2, 3, 7, 8, 9, 63, 64, 65, 513, 1_025]) {
      const root = Buffer.from(await RFC9162.treeHead(places(size).map(entry))).toString('hex');
      expect([size, rootOf(all[size] as TreeFrontier, treeHashes)]).toEqual([size, root]);
    }
  });

  it('is the same whether leaves are added one by one or together', () => {
    const all = frontiers(300);
    for (const [before, after] of [
      [0, 300],
      [1, 2],
      [7, 8],
      [127, 200],
      [128, 257],
      [255, 256],
    ] as const) {
      const leaves = places(after).slice(before).map(leaf);
      expect(appendLeaves(all[before] as TreeFrontier, leaves, treeHashes)).toEqual(all[after]);
    }
  });

  it('keeps one root for each set bit of its size', () => {
    for (const { size, roots } of frontiers(300)) {
      expect(roots).toHaveLength([...size.toString(2)].filter((digit) => digit === '1').length);
    }
  });

  it('grows beyond the range of bitwise operators', () => {
    const large = { size: 2 ** 40 - 1, roots: places(40).map(leaf) };
    expect(appendLeaves(large, [leaf(0)], treeHashes).roots).toHaveLength(1);
  });
});
