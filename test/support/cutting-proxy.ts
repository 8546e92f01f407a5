import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A proxy in front of the API that loses responses: the work was done, but the client never learns of it. */
export class CuttingProxy {
  private readonly server = createServer((inbound) => this.join(inbound));
  private readonly sockets = new Set<Socket>();
  private remaining = 0;
  private inTheMiddle = false;

  private constructor(private readonly targetPort: number) {}

  static async to(port: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts the connection at the next responses: before the first byte, or after half of the data. */
  cutNext(responses: number, where: 'before' | 'in the middle' = 'before'): void {
    this.remaining = responses;
    this.inTheMiddle = where === 'in the middle';
  }

  /** Number of responses still to be cut. */
  get uncut(): number {
    return this.remaining;
  }

  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    this.server.close();
    await once(this.server, 'close');
  }

  private join(inbound: Socket): void {
    const outbound = connect(this.targetPort, '127.0.0.1');
    inbound.on('data', (chunk: Buffer) => outbound.write(chunk));
    outbound.on('data', (chunk: Buffer) => {
      if (this.remaining === 0) return void inbound.write(chunk);
      this.remaining -= 1;
      if (!this.inTheMiddle) return void inbound.destroy();
      inbound.write(chunk.subarray(0, chunk.length / 2), () => inbound.destroy());
    });
    for (const [one, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
    }
  }
}
