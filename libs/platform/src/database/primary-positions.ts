/** Samples are taken once a second, and of older ones nobody may make use. */
const KEPT = 30;

export interface PrimarySample {
  /** Before the primary was asked, by `performance.now()`. */
  readonly at: number;
  /** Everything that was committed before `at` stands before this place in the write-ahead log. */
  readonly position: bigint;
  /** What a server and its standbys have in common, and no other server. */
  readonly cluster: string;
  /** Changes when another server becomes the primary. */
  readonly timeline: string;
}

/** Where the primary's log had come to at which time: how far back what a replica has replayed lies. */
export class PrimaryPositions {
  private samples: PrimarySample[] = [];

  /** Of the newest sample; null while there is none. */
  get cluster(): string | null {
    return this.samples.at(-1)?.cluster ?? null;
  }

  /** Gives whether another server has become the primary since: earlier places are of another history. */
  add(sample: PrimarySample): boolean {
    const newest = this.samples.at(-1);
    const changed = newest !== undefined && newest.timeline !== sample.timeline;
    this.samples = [...(changed ? [] : this.samples), sample].slice(-KEPT);
    return changed;
  }

  /** The newest moment whose commits have all been replayed by whoever has come to this place. */
  momentOf(replayed: bigint): number {
    return this.samples.findLast(({ position }) => position <= replayed)?.at ?? -Infinity;
  }
}
