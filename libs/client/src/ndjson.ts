import { abortable, withTimeout } from './abort';
import { type ExportLine } from './export';
import { ConnectionLost } from './problem';

/** Reads the lines of a body. Waits `timeoutMs` at most for more of it. @throws `ConnectionLost`, the signal's reason */
export async function* ndjsonLines(
  body: ReadableStream<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<ExportLine, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await nextPiece(reader, timeoutMs, signal);
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as ExportLine;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof reader.read>>> {
  try {
    return await withTimeout(signal, timeoutMs, (limited) => abortable(reader.read(), limited));
  } catch (error) {
    signal.throwIfAborted();
    throw new ConnectionLost(error);
  }
}
