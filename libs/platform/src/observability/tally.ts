/** Counts events of a fixed set of kinds. Every kind is present from the start, with 0. */
export class Tally<Kind extends string> {
  private readonly counts: Map<Kind, number>;

  constructor(kinds: readonly Kind[]) {
    this.counts = new Map(kinds.map((kind) => [kind, 0]));
  }

  add(kind: Kind): void {
    const count = this.counts.get(kind);
    if (count !== undefined) this.counts.set(kind, count + 1);
  }

  /** Each kind with its count since the start of the process. */
  entries(): Iterable<readonly [Kind, number]> {
    return this.counts;
  }
}
