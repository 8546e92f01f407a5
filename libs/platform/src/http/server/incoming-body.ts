import type { Socket } from 'node:net';
import { stopParsing } from './stop-parsing';

/** More than this is not read of a body that no route has asked for. */
const UNASKED_BYTES = 16_384;
/** After a response, what is left of a body is read up to this, so that a client in the middle of it gets to the response. */
const IGNORED_BYTES = 262_144;
/** One piece is one chunk, or what one read of the socket gave. Each costs a call of Node's, however small it is. */
const MAX_PIECES = 1_024;

export class BodyRefused extends Error {
  constructor(readonly reason: 'too large' | 'too many pieces' | 'too late' | 'cut off') {
    super(`The body is ${reason}.`);
  }
}

const NOTHING = Buffer.alloc(0);

/** The body of one request. It is copied into one buffer as it arrives, so a byte costs a byte whatever the chunks. */
export class IncomingBody {
  private buffer = NOTHING;
  private length = 0;
  private pieces = 0;
  private refused: BodyRefused | null = null;
  /** Of the route that reads it. */
  private limit: number | null = null;
  private isIgnored = false;
  private settle: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    private isWhole: boolean,
  ) {}

  /** Resolves to the whole body. Rejects with `BodyRefused` beyond so many bytes or milliseconds. */
  async read(limit: number, milliseconds: number): Promise<Buffer> {
    this.limit = limit;
    if (this.length > limit) this.refuse('too large');
    if (!this.isWhole && !this.refused) {
      const late = setTimeout(() => this.refuse('too late'), milliseconds);
      const settled = new Promise<void>((resolve) => (this.settle = resolve));
      this.socket.resume();
      await settled;
      clearTimeout(late);
    }
    if (this.refused) throw this.refused;
    return this.buffer.subarray(0, this.length);
  }

  /** Bytes so far. */
  get received(): number {
    return this.length;
  }

  /** Takes what has arrived. Returns whether more shall be read from the socket now. */
  add(piece: Buffer): boolean {
    this.length += piece.length;
    this.pieces += 1;
    if (this.pieces > MAX_PIECES) {
      stopParsing(this.socket);
      return this.refuse('too many pieces');
    }
    if (this.isIgnored) return this.length < IGNORED_BYTES;
    if (this.refused) return false;
    if (this.limit !== null && this.length > this.limit) return this.refuse('too large');
    this.keep(piece);
    return this.limit !== null || this.length < UNASKED_BYTES;
  }

  end(): void {
    this.isWhole = true;
    this.settle();
  }

  /** Where the connection is lost before the end. */
  abort(): void {
    if (!this.isWhole) this.refuse('cut off');
  }

  /** Keeps nothing from now on: the request has its response. */
  ignore(): void {
    this.isIgnored = true;
    this.length = 0;
    this.buffer = NOTHING;
    if (this.isWhole) return;
    if (this.pieces > MAX_PIECES) this.socket.pause();
    else this.socket.resume();
  }

  private keep(piece: Buffer): void {
    if (this.length > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.length, 2 * this.buffer.length));
      this.buffer.copy(larger);
      this.buffer = larger;
    }
    this.buffer.set(piece, this.length - piece.length);
  }

  private refuse(reason: BodyRefused['reason']): false {
    this.refused ??= new BodyRefused(reason);
    this.buffer = NOTHING;
    this.settle();
    return false;
  }
}
