import { randomFillSync } from 'node:crypto';

/** Pieces drawn in one call: a few bytes cost as much as thousands. */
const DRAWN_TOGETHER = 256;

/** Hands out random bytes in pieces of one size, each piece once. */
export class RandomPieces {
  private readonly drawn: Buffer;
  private taken: number;

  constructor(private readonly size: number) {
    this.drawn = Buffer.alloc(size * DRAWN_TOGETHER);
    this.taken = this.drawn.length;
  }

  /** Use the piece at once, because the next draw overwrites the buffer. */
  next(): Buffer {
    if (this.taken === this.drawn.length) {
      randomFillSync(this.drawn);
      this.taken = 0;
    }
    return this.drawn.subarray(this.taken, (this.taken += this.size));
  }
}
