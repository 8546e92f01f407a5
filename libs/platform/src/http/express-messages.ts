import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

declare module 'http' {
  interface ServerResponse {
    /** Bytes of the body that were handed to the connection. */
    bodyBytes: number;
  }
}

/**
 * Classes by which Node makes its messages as Express wants them, so that Express need not change the prototype of each:
 * that costs as much as all of its routing. Answers count what they hand over.
 */
export function expressMessages(instance: Express): {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
} {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {
    override bodyBytes = 0;

    override write(...sent: unknown[]): boolean {
      this.count(sent);
      return (super.write as (...sent: unknown[]) => boolean)(...sent);
    }

    override end(...sent: unknown[]): this {
      this.count(sent);
      return (super.end as (...sent: unknown[]) => this)(...sent);
    }

    private count([chunk, encoding]: unknown[]): void {
      if (this.req.method === 'HEAD') return;
      if (typeof chunk === 'string') this.bodyBytes += Buffer.byteLength(chunk, encoding as BufferEncoding | undefined);
      else if (chunk instanceof Uint8Array) this.bodyBytes += chunk.byteLength;
    }
  }
  Object.setPrototypeOf(ExpressRequest.prototype, instance.request);
  Object.setPrototypeOf(ExpressResponse.prototype, instance.response);
  instance.request = ExpressRequest.prototype as typeof instance.request;
  instance.response = ExpressResponse.prototype as unknown as typeof instance.response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse as typeof ServerResponse };
}
