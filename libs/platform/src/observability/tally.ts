/**
 * Counts what happened, by kinds that are all known beforehand: whoever reads it sees each kind from the start, and never
 * one more. Costs nothing until it is read.
 */
export class Tally<Kind extends string> {
  private readonly counts: Map<Kind, number>;

  constructor(kinds: readonly Kind[]) {
    this.counts = new Map(kinds.map((kind) => [kind, 0]));
  }

  add(kind: Kind): void {
    const count = this.counts.get(kind);
    if (count !== undefined) this.counts.set(kind, count + 1);
  }

  /** Each kind and how often it happened since the start of the process. */
  entries(): Iterable<readonly [Kind, number]> {
    return this.counts;
  }
}
