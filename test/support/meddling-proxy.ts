import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Meddling {
  /** Runs before a request is forwarded. */
  before?(request: IncomingMessage): Promise<void>;
  /** Returns true to cut the connection instead of forwarding the response. */
  cut?(request: IncomingMessage): boolean;
  /** Returns true to cut the connection after nine tenths of the response. */
  truncate?(request: IncomingMessage): boolean;
}

/** A proxy in front of the API that interferes at the worst moment. */
export class MeddlingProxy {
  meddling: Meddling = {};
  private readonly server = createServer((request, response) => void this.pass(request, response));

  private constructor(private readonly target: string) {}

  static async to(target: string): Promise<MeddlingProxy> {
    const proxy = new MeddlingProxy(target);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    await this.meddling.before?.(request);
    const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(`${this.target}${request.url}`, {
      method: request.method,
      headers,
      body: body.length > 0 ? new Uint8Array(body) : undefined,
    });
    const content = Buffer.from(await answer.arrayBuffer());
    if (this.meddling.cut?.(request)) return void request.socket.destroy();
    // The content is decompressed by now.
    const { 'content-encoding': _encoding, 'content-length': _length, ...kept } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, kept);
    if (!this.meddling.truncate?.(request)) return void response.end(content);
    response.write(content.subarray(0, content.length * 0.9), () => request.socket.destroy());
  }
}
