import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** How often Postgres was spoken to, and waited for. */
export interface Conversation {
  /** Batches that end in a Sync, and simple queries: after each the client waits for the server. */
  readonly roundTrips: number;
  /** Statements executed, transaction control included. */
  readonly statements: number;
  /** Rows that came back. */
  readonly rows: number;
}

/** Stands between the application and Postgres and counts what they say. */
export class RoundTripCounter {
  private readonly counts = { roundTrips: 0, statements: 0, rows: 0 };
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
      rows: this.counts.rows - before.rows,
    };
  }

  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    this.server.close();
    await once(this.server, 'close');
  }

  private join(inbound: Socket, outbound: Socket): void {
    // The first message of a client has no type.
    const sent = messageTypes(false);
    inbound.on('data', (chunk: Buffer) => {
      outbound.write(chunk);
      for (const type of sent(chunk)) {
        if (type === 'S' || type === 'Q') this.counts.roundTrips += 1;
        if (type === 'E' || type === 'Q') this.counts.statements += 1;
      }
    });
    const answered = messageTypes(true);
    outbound.on('data', (chunk: Buffer) => {
      for (const type of answered(chunk)) if (type === 'D') this.counts.rows += 1;
      inbound.write(chunk);
    });
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
}

/** Gives the types of the messages that a chunk ends: one byte of type, then a length that counts itself. */
function messageTypes(typed: boolean): (chunk: Buffer) => string[] {
  let head = typed ? 1 : 0;
  let rest = Buffer.alloc(0);
  return (chunk) => {
    const types: string[] = [];
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= head + 4 && rest.length >= head + rest.readInt32BE(head)) {
      if (head === 1) types.push(String.fromCharCode(rest[0] ?? 0));
      rest = rest.subarray(head + rest.readInt32BE(head));
      head = 1;
    }
    return types;
  };
}
