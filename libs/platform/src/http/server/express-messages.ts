import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { closeAfter } from './closing';
import { IncomingBody } from './incoming-body';

declare module 'http' {
  interface IncomingMessage {
    readonly incomingBody: IncomingBody;
  }
  interface ServerResponse {
    /** Body bytes that were handed to the connection. */
    bodyBytes: number;
  }
}

/**
 * Message classes with the prototypes that Express wants. Express would otherwise change the prototype of each message,
 * which costs as much as all of its routing. Requests also collect their bodies, and responses count the bytes they
 * send.
 */
export function expressMessages(instance: Express): {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
} {
  class ExpressRequest extends IncomingMessage {
    private gathered: IncomingBody | null = null;

    override get incomingBody(): IncomingBody {
      return (this.gathered ??= new IncomingBody(this.socket, this.complete));
    }

    /** Node's parser passes the body here, null at its end. Nothing enters the stream's own buffers. */
    override push(piece: Buffer | null): boolean {
      if (piece !== null) return this.incomingBody.add(piece);
      this.gathered?.end();
      return super.push(null);
    }

    override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
      this.gathered?.abort();
      super._destroy(error, done);
    }

    /** Node calls this after the response. The original would swallow an endless body. */
    _dump(): void {
      if (this.complete) this.resume();
      else this.incomingBody.ignore();
    }
  }
  class ExpressResponse extends ServerResponse {
    override bodyBytes = 0;

    /** A connection with an unfinished body cannot carry another request. */
    override writeHead(...given: unknown[]): this {
      const { req: request } = this;
      if (!request.complete && bodyIsMissing(request)) closeAfter(this);
      return (super.writeHead as (...given: unknown[]) => this)(...given);
    }

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
  instance.request = ExpressRequest.prototype as unknown as typeof instance.request;
  instance.response = ExpressResponse.prototype as unknown as typeof instance.response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse as typeof ServerResponse };
}

/** Tells whether part of the body is still missing. Node may not have reported its end yet. */
function bodyIsMissing(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && Number(length) !== request.incomingBody.received);
}
