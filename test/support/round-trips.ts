import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** Counts of the traffic with Postgres. */
export interface Conversation {
  /** Batches that end in a Sync, and simple queries. The client waits after each. */
  readonly roundTrips: number;
  /** Executed statements, including transaction control. */
  readonly statements: number;
  /** Returned rows. */
  readonly rows: number;
}

/** Counts the messages between the application and Postgres. */
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

  /** Returns the counts while `work` ran. */
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
    // A client's first message has no type.
    const sent = messageTypes(false);
    inbound.on('data', (chunk: Buffer) => {
      outbound.write(chunk);
      for (const type of sent(chunk)) {
        if (type === 'S' || type === 'Q') this.counts.roundTrips += 1;
        if (type === 'E' || type === 'Q') this.counts.statements += 1;
      }
    });
    const succeeded = messageTypes(true);
    outbound.on('data', (chunk: Buffer) => {
      for (const type of succeeded(chunk)) if (type === 'D') this.counts.rows += 1;
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

/**
 * Returns a function that extracts the types of completed messages: one byte of type, then a length that includes
 * itself.
 */
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
