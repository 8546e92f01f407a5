/**
 * For how long each node has been there without a break. One that was away may be back with what it knew before, or be
 * another one: what others did meanwhile, and just before, it need not know. A first connection is no break.
 */
export class Continuity {
  private readonly since = new Map<string, number>();

  constructor(private readonly now = (): number => performance.now()) {}

  /** From now on, until it is back. */
  breakOff(node: string): void {
    this.since.set(node, Infinity);
  }

  /** It is there; only where that is news does it begin anew. */
  isThere(node: string): void {
    if (this.since.has(node)) this.beginAnew(node);
  }

  beginAnew(node: string): void {
    this.since.set(node, this.now());
  }

  /** Milliseconds; infinite where there never was a break. */
  of(node: string): number {
    return Math.max(0, this.now() - (this.since.get(node) ?? -Infinity));
  }
}
