import { fstatSync, writeFileSync } from 'node:fs';
import { jsonLine } from '#libs/kernel';
import { CommandFailed } from './command-faults';
import { visibleText } from './visible-text';

/** The output of a command: a document for programs, and text for people. */
export interface Result {
  readonly json: unknown;
  readonly text: () => Promise<string> | string;
}

/** Lists are shown with one item per line. */
type Cell = string | readonly string[] | number | boolean | Date | null | undefined;

export async function print(result: Result, options: { readonly json?: boolean }): Promise<void> {
  const text = options.json === true ? JSON.stringify(result.json, null, 2) : await result.text();
  await write(text.endsWith('\n') || text === '' ? text : `${text}\n`);
}

/** Prints one JSON document as a line. Returns false once the reader has closed the pipe. */
export const printLine = async (document: unknown): Promise<boolean> => write(`${jsonLine(document)}\n`);

/** Returns false where the reader has closed the pipe, as `head` does. @throws when it cannot be written, as to a full disk */
async function write(text: string): Promise<boolean> {
  const { stdout } = process;
  try {
    // A stream of Node drops silently what a file has no room for.
    if (stdout.fd === 1 && fstatSync(1).isFile()) writeFileSync(1, text);
    // The end of the process would drop what is not written.
    else {
      await new Promise<void>((resolve, reject) => {
        stdout.once('error', reject);
        stdout.write(text, (error) => {
          if (error) return reject(error);
          stdout.off('error', reject);
          resolve();
        });
      });
    }
    return true;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (['EPIPE', 'ERR_STREAM_DESTROYED'].includes(code)) return false;
    throw new CommandFailed(`The output could not be written: ${message}`);
  }
}

/** Shows progress to people at a terminal only, so that logs of scripts stay clean. */
export function say(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${line}\n`);
}

/** The library compares each row with all before it, so it draws a part at a time. */
const ROWS_AT_ONCE = 50;

export async function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const draw = (part: typeof rows, colWidths: number[] = []): string[] => {
    const drawn = new Table({ head: [...headings], colWidths, style: { head: [], border: [], compact: true } });
    for (const row of part) drawn.push(row.map(cell));
    return drawn.toString().split('\n');
  };
  if (rows.length <= ROWS_AT_ONCE) return draw(rows).join('\n');
  const parts: (typeof rows)[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) parts.push(rows.slice(from, from + ROWS_AT_ONCE));
  // The upper border of a part tells the widths of its columns.
  const widths = parts.map((part) => (draw(part)[0] ?? '').slice(1, -1).split('┬'));
  const widest = headings.map((_, column) => Math.max(...widths.map((of) => of[column]?.length ?? 0)));
  // Each part comes with three lines of headings and one at its end.
  const drawn = parts.map((part) => draw(part, widest));
  const [first = []] = drawn;
  return [...first.slice(0, 3), ...drawn.flatMap((lines) => lines.slice(3, -1)), ...first.slice(-1)].join('\n');
}

/** Shows one object, with a line for each member. */
export async function card(members: Readonly<Record<string, Cell>>): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const drawn = new Table({ style: { head: [], border: [], compact: true } });
  for (const [name, value] of Object.entries(members)) drawn.push({ [name]: cell(value) });
  return drawn.toString();
}

function cell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? value.map(visibleText).join('\n') : visibleText(String(value));
}
