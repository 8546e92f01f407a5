import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

export const NDJSON = 'application/x-ndjson';

export interface StreamLine {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Whether the stream ended as HTTP says; a cut one is an error of the connection. */
export interface ReadStream {
  readonly lines: readonly StreamLine[];
  readonly isWhole: boolean;
}

/** Reads a stream line by line, as slowly as the test wants, and may leave at any line. */
export class StreamReader {
  private constructor(readonly response: IncomingMessage) {}

  static async open(
    origin: string,
    path: string,
    token: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<StreamReader> {
    const sent = request(origin + path, {
      agent: false,
      headers: { Accept: NDJSON, Authorization: `Bearer ${token}`, ...headers },
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    // A connection that is cut is no fault of the test.
    response.on('error', () => undefined);
    return new StreamReader(response);
  }

  /** The lines one by one. A half line at the end of a cut stream is left out. */
  async *lines(): AsyncGenerator<StreamLine> {
    const { response } = this;
    // The readline interface of a response that is closed already would wait for ever.
    if (response.destroyed) return;
    const isPlain = response.headers['content-encoding'] !== 'gzip';
    const body = isPlain ? response : pipeline(response, createGunzip(), () => undefined);
    try {
      for await (const line of createInterface({ input: body, crlfDelay: Infinity })) {
        const parsed = parsedLine(line);
        if (parsed) yield parsed;
      }
    } catch (error) {
      if (response.complete) throw error;
    }
  }

  async read(most = Infinity): Promise<ReadStream> {
    const lines: StreamLine[] = [];
    for await (const line of this.lines()) {
      lines.push(line);
      if (lines.length >= most) break;
    }
    if (lines.length >= most) this.leave();
    else if (!this.response.closed) await once(this.response, 'close');
    return { lines, isWhole: this.response.complete };
  }

  leave(): void {
    this.response.destroy();
  }
}

function parsedLine(line: string): StreamLine | null {
  try {
    return JSON.parse(line) as StreamLine;
  } catch {
    return null;
  }
}

export const itemsOf = (lines: readonly StreamLine[], item: string): Record<string, unknown>[] =>
  lines.filter(({ type }) => type === item).map((line) => line[item] as Record<string, unknown>);
