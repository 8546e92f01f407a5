import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly (Omit<Span, 'attributes' | 'resource'> & Raw)[] }[];
  }[];
}
interface Raw {
  readonly attributes: readonly Attribute[];
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 for a server, 3 for a client. */
  readonly kind: number;
  /** 2 for an error. */
  readonly status: { readonly code: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** Receives traces as a collector does: OTLP by HTTP, in JSON. */
export class TraceCollector {
  readonly spans: Span[] = [];
  /** All received data as text. */
  text = '';

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void this.take(request).then(() => response.setHeader('Content-Type', 'application/json').end('{}'));
    });
  }

  static async listen(): Promise<TraceCollector> {
    const collector = new TraceCollector(createServer());
    collector.server.listen(0, '127.0.0.1');
    await once(collector.server, 'listening');
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    this.text += `${request.url ?? ''} ${JSON.stringify(request.headers)} ${text}\n`;
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push({ ...span, attributes: flat(span.attributes), resource: flat(resource.attributes) });
      }
    }
  }
}

function flat(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]),
  );
}
