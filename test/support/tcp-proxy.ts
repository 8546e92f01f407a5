import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port';

export type ProxyMode = 'forward' | 'refuse' | 'blackhole';

/** A proxy that simulates network failures between a client and a service. */
export class TcpProxy {
  private mode: ProxyMode = 'forward';
  private latencyMs = 0;
  private readonly sockets = new Set<Socket>();
  private readonly forgotten = new WeakSet<Socket>();
  private server: Server;

  private constructor(
    private target: { readonly host: string; readonly port: number },
    readonly port: number,
  ) {
    this.server = this.listen();
  }

  static async to(host: string, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy({ host, port }, await freePort());
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** `refuse` resets open connections and accepts none; `blackhole` keeps connections open and forwards nothing. */
  async set(mode: ProxyMode): Promise<void> {
    const was = this.mode;
    this.mode = mode;
    if (mode === 'refuse') {
      this.sockets.forEach(reset);
      this.server.close();
      await once(this.server, 'close');
    } else if (was === 'refuse') {
      this.server = this.listen();
      await once(this.server, 'listening');
    }
    if (mode === 'forward' && was === 'blackhole') this.sockets.forEach(reset);
  }

  /** Delays every byte in both directions from now on. Opening a connection is not delayed. */
  slowDown(latencyMs: number): void {
    this.latencyMs = latencyMs;
  }

  /** Resets any open connection. Returns false when there is none. */
  resetOne(): boolean {
    const open = [...this.sockets].filter((socket) => !socket.destroyed);
    const socket = open[Math.floor(Math.random() * open.length)];
    if (socket) reset(socket);
    return socket !== undefined;
  }

  /** Resets each open connection when a byte is sent on it, like a firewall after a restart. */
  forget(): void {
    this.sockets.forEach((socket) => this.forgotten.add(socket));
  }

  /** Redirects to another address, like a name or virtual address that has moved. Resets open connections. */
  leadTo(host: string, port: number): void {
    this.target = { host, port };
    this.sockets.forEach(reset);
  }

  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    if (this.mode === 'refuse') return;
    this.server.close();
    await once(this.server, 'close');
  }

  private listen(): Server {
    return createServer((inbound) => this.join(inbound)).listen(this.port, '127.0.0.1');
  }

  private join(inbound: Socket): void {
    const outbound = connect(this.target.port, this.target.host);
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      this.sockets.add(from);
      let underWay: Promise<unknown> | null = null;
      from.on('data', (chunk: Buffer) => {
        if (this.mode !== 'forward') return;
        if (this.forgotten.has(from)) return reset(from);
        if (this.latencyMs === 0 && underWay === null) return void to.write(chunk);
        // Keeps the order of sending when the delay has been reduced.
        const arrival = Promise.all([underWay, delay(this.latencyMs)]).then(() => {
          if (underWay === arrival) underWay = null;
          to.write(chunk);
        });
        underWay = arrival;
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}

/** Resetting a socket that is already ending leaves a handle open in Node, which then spins at its exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
