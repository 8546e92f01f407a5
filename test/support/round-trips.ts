import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** How often Postgres was spoken to, and waited for. */
export interface Conversation {
  /** Batches that end in a Sync, and simple queries: after each the client waits for the server. */
  readonly roundTrips: number;
  /** Statements executed, transaction control included. */
  readonly statements: number;
}

/** Stands between the application and Postgres and counts what the application sends. */
export class RoundTripCounter {
  private counts = { roundTrips: 0, statements: 0 };
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    readonly url: string,
  ) {}

  static async before(databaseUrl: string): Promise<RoundTripCounter> {
    const target = new URL(databaseUrl);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(databaseUrl);
    url.port = String((server.address() as AddressInfo).port);
    const counter = new RoundTripCounter(server, url.toString());
    server.on('connection', (inbound) => counter.join(inbound, connect(Number(target.port), target.hostname)));
    return counter;
  }

  /** What was sent while `work` ran. */
  async during(work: () => Promise<unknown>): Promise<Conversation> {
    const before = { ...this.counts };
    await work();
    return {
      roundTrips: this.counts.roundTrips - before.roundTrips,
      statements: this.counts.statements - before.statements,
    };
  }

  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    this.server.close();
    await once(this.server, 'close');
  }

  private join(inbound: Socket, outbound: Socket): void {
    let started = false;
    let rest = Buffer.alloc(0);
    inbound.on('data', (chunk: Buffer) => {
      outbound.write(chunk);
      rest = Buffer.concat([rest, chunk]);
      // Messages: one byte of type, then a length that counts itself; the first message has no type.
      for (;;) {
        const head = started ? 1 : 0;
        if (rest.length < head + 4 || rest.length < head + rest.readInt32BE(head)) return;
        if (started) this.count(String.fromCharCode(rest[0] ?? 0));
        rest = rest.subarray(head + rest.readInt32BE(head));
        started = true;
      }
    });
    outbound.on('data', (chunk: Buffer) => inbound.write(chunk));
    for (const [socket, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
  }

  private count(type: string): void {
    if (type === 'S' || type === 'Q') this.counts.roundTrips += 1;
    if (type === 'E' || type === 'Q') this.counts.statements += 1;
  }
}
