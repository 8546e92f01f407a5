import type { Socket } from 'node:net';
import { stopParsing } from './stop-parsing';

/** Bytes buffered of a body that no route has asked for yet. */
const UNASKED_BYTES = 16_384;
/** Bytes read of a body after the response, so that a client that is still sending can read the response. */
const IGNORED_BYTES = 262_144;
/** A piece is one chunk, or the result of one read of the socket. Each costs one call of Node, however small it is. */
const MAX_PIECES = 1_024;

export class BodyRefused extends Error {
  constructor(readonly reason: 'too large' | 'too many pieces' | 'too late' | 'cut off') {
    super(`The body is ${reason}.`);
  }
}

const NOTHING = Buffer.alloc(0);

/** The body of one request. Copies it into one buffer as it arrives, so memory depends on bytes and not on chunks. */
export class IncomingBody {
  /** Bytes received so far. */
  received = 0;
  private buffer = NOTHING;
  private pieces = 0;
  private refused: BodyRefused | null = null;
  /** Limit of the route that reads the body. */
  private limit: number | null = null;
  private isIgnored = false;
  private finish: () => void = () => undefined;

  constructor(
    private readonly socket: Socket,
    private isWhole: boolean,
  ) {}

  /** Resolves to the whole body. Rejects with `BodyRefused` above the limit or after the time. */
  async read(limit: number, milliseconds: number): Promise<Buffer> {
    this.limit = limit;
    if (this.received > limit) this.refuse('too large');
    if (!this.isWhole && !this.refused) {
      const late = setTimeout(() => this.refuse('too late'), milliseconds);
      const finished = new Promise<void>((resolve) => (this.finish = resolve));
      this.socket.resume();
      await finished;
      clearTimeout(late);
    }
    if (this.refused) throw this.refused;
    return this.buffer.subarray(0, this.received);
  }

  /** Adds a piece. Returns whether to keep reading from the socket. */
  add(piece: Buffer): boolean {
    this.received += piece.length;
    this.pieces += 1;
    if (this.pieces > MAX_PIECES) {
      stopParsing(this.socket);
      return this.refuse('too many pieces');
    }
    if (this.isIgnored) return this.received < IGNORED_BYTES;
    if (this.refused) return false;
    if (this.limit !== null && this.received > this.limit) return this.refuse('too large');
    this.keep(piece);
    return this.limit !== null || this.received < UNASKED_BYTES;
  }

  end(): void {
    this.isWhole = true;
    this.finish();
  }

  /** Called when the connection is lost before the end. */
  abort(): void {
    if (!this.isWhole) this.refuse('cut off');
  }

  /** Discards the rest: the response was sent. */
  ignore(): void {
    this.isIgnored = true;
    this.received = 0;
    this.buffer = NOTHING;
    if (this.isWhole) return;
    if (this.pieces > MAX_PIECES) this.socket.pause();
    else this.socket.resume();
  }

  private keep(piece: Buffer): void {
    if (this.received > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.received, 2 * this.buffer.length));
      this.buffer.copy(larger);
      this.buffer = larger;
    }
    this.buffer.set(piece, this.received - piece.length);
  }

  private refuse(reason: BodyRefused['reason']): false {
    this.refused ??= new BodyRefused(reason);
    this.buffer = NOTHING;
    this.finish();
    return false;
  }
}
