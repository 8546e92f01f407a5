/** At most this many are remembered, some 200 bytes each. */
const REMEMBERED = 10_000;

/**
 * Keys that this process answered lately: what comes under one of them is a repetition, and its answer is read without
 * beginning anything. A hint and no more: whether there is an answer, and whose, is for the record to say.
 */
export class RecentKeys {
  private readonly keys = new Set<string>();

  has(key: string): boolean {
    return this.keys.has(key);
  }

  add(key: string): void {
    this.keys.delete(key);
    this.keys.add(key);
    if (this.keys.size <= REMEMBERED) return;
    const [oldest] = this.keys;
    this.forget(oldest as string);
  }

  forget(key: string): void {
    this.keys.delete(key);
  }
}
