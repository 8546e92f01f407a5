import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port';

export type ProxyMode = 'forward' | 'refuse' | 'blackhole';

/** Stands between a client and a service, to play every way a network can fail. */
export class TcpProxy {
  private mode: ProxyMode = 'forward';
  private latencyMs = 0;
  private readonly sockets = new Set<Socket>();
  /** Those that lead to the service. */
  private readonly outbound = new WeakSet<Socket>();
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

  /** `refuse` resets what is open and accepts nothing; `blackhole` keeps everything open and passes no byte on. */
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

  /** So long every byte takes from now on, in each direction; opening a connection takes no longer than before. */
  slowDown(latencyMs: number): void {
    this.latencyMs = latencyMs;
  }

  /** Resets one of the open connections, whichever; false when there is none. */
  resetOne(): boolean {
    const open = [...this.sockets].filter((socket) => !socket.destroyed);
    const socket = open[Math.floor(Math.random() * open.length)];
    if (socket) reset(socket);
    return socket !== undefined;
  }

  /** What is open stays open until a byte is sent on it, which resets it: as behind a firewall that was restarted. */
  forget(): void {
    this.sockets.forEach((socket) => this.forgotten.add(socket));
  }

  /** What is open stays open until the service answers on it, which resets it: what was asked for has taken place. */
  forgetResponses(): void {
    for (const socket of this.sockets) if (this.outbound.has(socket)) this.forgotten.add(socket);
  }

  /** Leads elsewhere from now on, as a name or a virtual address that has moved; what is open is reset. */
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
    this.outbound.add(outbound);
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
        // In the order sent, also when what came later had less far to go.
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

/** Resetting a socket that is already ending leaves Node with a handle that it never closes, and spinning at its exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
