import { once } from 'node:events';
import { type Server, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that serves the API under a path that the API does not know. */
export class PathProxy {
  /** Requests outside that path. */
  readonly strayed: string[] = [];

  private constructor(private readonly server: Server) {}

  static async to(origin: string, prefix: string): Promise<PathProxy> {
    const server = createServer((request, response) => {
      const { url = '', method, headers } = request;
      if (!url.startsWith(prefix)) {
        proxy.strayed.push(url);
        response.writeHead(404).end();
        return;
      }
      const onward = send(`${origin}${url.slice(prefix.length) || '/'}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    });
    const proxy = new PathProxy(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
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
}
