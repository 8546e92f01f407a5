import { Readable } from 'node:stream';
import type { InputLine } from '../domain/import-files.port';
import { ndjsonLines } from './ndjson-lines';

const MAX_LINE_BYTES = 1_048_576;
const TOO_LONG = 'The line is longer than 1048576 bytes.';

async function linesOf(...texts: string[]): Promise<InputLine[]> {
  const lines: InputLine[] = [];
  const content = Readable.from([Buffer.from(texts.join('\n'))]);
  for await (const together of ndjsonLines(content, 0)) lines.push(...together);
  return lines;
}

/** A record of so many bytes. JSON must escape nearly all of them once more. */
const recordOf = (bytes: number): string => `{"name":"${'\\"'.repeat((bytes - 11) / 2)}"}`;
const kept = (text: string): string => JSON.stringify({ line: 1, reason: 'It is bad.', text });

describe('ndjsonLines', () => {
  it('reads a kept line of maximum length', async () => {
    const text = recordOf(MAX_LINE_BYTES - 1);

    const lines = await linesOf(kept(text));

    expect(lines).toMatchObject([{ again: true, line: 1, value: JSON.parse(text) as unknown }]);
    expect(lines[0]?.bytes?.toString() === text).toBe(true);
  });

  it('reads a kept line of control characters, which JSON writes as six bytes each', async () => {
    const text = '\u0001'.repeat(MAX_LINE_BYTES);

    expect(await linesOf(kept(text))).toMatchObject([{ again: true, fault: 'The line is not JSON.' }]);
  });

  it('does not parse a line of very many levels, and reads the next one', async () => {
    const deep = `${'['.repeat(9_000)}${'[0,'.repeat(3_000)}{`;

    expect(await linesOf(deep, '{}')).toMatchObject([
      { fault: 'The line has more than 1000 lists and objects within each other.' },
      { value: {} },
    ]);
  });

  it('refuses a longer line, kept or not, and reads the next one', async () => {
    const long = recordOf(MAX_LINE_BYTES + 1);
    const texts = [long, kept(long), 'x'.repeat(MAX_LINE_BYTES + 1), 'x'.repeat(14 * MAX_LINE_BYTES)];

    const lines = await linesOf(...texts, '{}');

    expect(lines.map((line) => ('value' in line ? line.value : 'fault' in line && line.fault))).toEqual([
      ...texts.map(() => TOO_LONG),
      {},
    ]);
  });
});
