import { abortable, withTimeout } from './abort';
import { type ExportLine } from './export';
import { jsonObject } from './json-object';
import { ConnectionLost, Problem } from './problem';

/**
 * Reads the lines of a response. Waits `timeoutMs` at most for more of it.
 * @throws `ConnectionLost`, `Problem`, the signal's reason
 */
export async function* ndjsonLines(
  response: Response,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<ExportLine, void, undefined> {
  if (!response.body) throw new ConnectionLost(new Error('the stream is empty'));
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await nextPiece(reader, timeoutMs, signal);
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const parsed = jsonObject(line);
        if (parsed === null) throw Problem.unexpected(response, 'A line of the stream is not a JSON object.');
        yield parsed;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Awaited<ReturnType<typeof reader.read>>> {
  try {
    return await withTimeout(signal, timeoutMs, (limited) => abortable(reader.read(), limited));
  } catch (error) {
    signal?.throwIfAborted();
    throw new ConnectionLost(error);
  }
}
