import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** An address that leads to a Redis of this machine, and to another one when it is told to. */
export class RedisPath {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private target: number,
  ) {}

  static async to(port: number): Promise<RedisPath> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const path = new RedisPath(server, port);
    server.on('connection', (inbound) => path.join(inbound));
    return path;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** New connections go there; those that are open stay where they are. */
  leadTo(port: number): void {
    this.target = port;
  }

  /** What is open leads nowhere any more, and neither end is told. */
  loseConnections(): void {
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(inbound: Socket): void {
    const outbound = connect(this.target, '127.0.0.1');
    inbound.pipe(outbound).pipe(inbound);
    for (const socket of [inbound, outbound]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
    }
  }
}
