/** Maximum number of remembered keys, at about 200 bytes each. */
const REMEMBERED = 10_000;

/**
 * Keys that this instance completed recently. A request with such a key is probably a replay, so its record is read
 * before a transaction begins. Only a hint: the record decides.
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
