import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** An address that leads to one Redis on this machine and can be switched to another. */
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

  /** Directs new connections to this port. Open ones stay. */
  leadTo(port: number): void {
    this.target = port;
  }

  /** Silently drops the data of open connections. */
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
