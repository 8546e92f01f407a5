import { randomFillSync } from 'node:crypto';

/** Pieces that are drawn together: a call for a few bytes costs as much as one for thousands. */
const DRAWN_TOGETHER = 256;

/** Random bytes in pieces of one size, none of them twice. */
export class RandomPieces {
  private readonly drawn: Buffer;
  private taken: number;

  constructor(private readonly size: number) {
    this.drawn = Buffer.alloc(size * DRAWN_TOGETHER);
    this.taken = this.drawn.length;
  }

  /** To be used at once: what it stands in is drawn anew. */
  next(): Buffer {
    if (this.taken === this.drawn.length) {
      randomFillSync(this.drawn);
      this.taken = 0;
    }
    return this.drawn.subarray(this.taken, (this.taken += this.size));
  }
}
