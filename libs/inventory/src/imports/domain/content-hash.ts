import type { ImportRecord } from './import-record';

const NULL = 0x9e3779b9;

/** Returns a 32-bit hash of what a record says, never zero. It runs for every record, so it makes no text of it. */
export const contentHash = (record: ImportRecord): number => withValue(NULL, record) >>> 0 || 1;

/** The members of records are always in one order. */
function withValue(hash: number, value: unknown): number {
  if (value === null) return mixed(hash, NULL);
  if (typeof value === 'string') return withText(hash, value);
  if (typeof value === 'boolean') return mixed(hash, value ? 1 : 2);
  if (value instanceof Date) return mixed(mixed(hash, value.getTime() | 0), Math.floor(value.getTime() / 2 ** 32));
  if (Array.isArray(value)) return mixed(hash, sumOf(value));
  let next = hash;
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) next = withValue(next, members[name]);
  return next;
}

/** A sum, so that the order of the tags does not count. */
function sumOf(tags: readonly unknown[]): number {
  let sum = tags.length;
  for (const tag of tags) sum = (sum + spread(withValue(NULL, tag))) | 0;
  return sum;
}

/** A step of MurmurHash3. */
function mixed(hash: number, value: number): number {
  const step = Math.imul(value ^ (value >>> 15), 0xcc9e2d51);
  const next = hash ^ Math.imul((step << 15) | (step >>> 17), 0x1b873593);
  return Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64;
}

/** The last steps of MurmurHash3. Without them, sums of similar texts are often equal. */
function spread(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}

/** Characters are mixed as FNV-1a does, which is quicker. The length separates a text from the next one. */
function withText(hash: number, text: string): number {
  let next = hash;
  for (let index = 0; index < text.length; index += 1) next = Math.imul(next ^ text.charCodeAt(index), 0x01000193);
  return mixed(next, text.length);
}
