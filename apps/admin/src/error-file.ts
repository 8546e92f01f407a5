import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { jsonLine } from '#libs/kernel';
import type { BadLine } from '#libs/inventory/operators';
import { CommandFailed, WrongUsage } from './command-faults';

const STANDARD_INPUT = 0;
/** Bad lines may hold personal data. */
const MODE = 0o600;

/**
 * Collects bad lines and writes them in input order, one per line. They arrive in a few sorted runs, which are merged
 * when the import ends. A failed import leaves the file unchanged, and makes no new one.
 */
export class ErrorFile {
  private readonly spool = openNameless();
  /** Start of each run in the spool. */
  private readonly runs: number[] = [];
  private length = 0;
  private lastPlace = Infinity;

  /** @throws when the file cannot be written */
  constructor(private readonly path: string) {
    const isNew = !existsSync(path);
    closeSync(this.open());
    // However the process ends, it leaves no file that it made only to see whether it can.
    if (isNew) rmSync(path);
  }

  /**
   * A link may name any file. Opening follows none, so a link that appears later is refused too. A pipe that nobody reads
   * would hold the process for ever.
   */
  static refuseLinkAndPipe(path: string): void {
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there?.isSymbolicLink())
      throw new WrongUsage(`--errors names ${path}, which is a symbolic link. Name the file itself.`);
    if (there?.isFIFO()) throw new WrongUsage(`--errors names ${path}, which is a pipe. Name a file.`);
  }

  /** Writing to an input file, or to a map, would destroy it. */
  static refuseInput(path: string, inputs: readonly string[]): void {
    const there = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (there?.isFile() !== true) return;
    const same = inputs.find((input) => isSameFile(inputAt(input), there));
    if (same === undefined) return;
    const name = same === '-' ? 'standard input' : same;
    throw new WrongUsage(`--errors names ${name}, which is one of the files that the import reads.`);
  }

  add({ place, file, line, reason, header, text, base64 }: BadLine): void {
    if (place < this.lastPlace) this.runs.push(this.length);
    this.lastPlace = place;
    const error = { file, line, reason, header, text, base64 };
    this.length += writeSync(this.spool, `${place} ${jsonLine(error)}\n`);
  }

  /** Replaces the previous content, once the import is done. @throws {@link CommandFailed} where it cannot be written */
  async complete(): Promise<void> {
    try {
      await this.replace();
    } catch (error) {
      const { message } = error as Error;
      throw new CommandFailed(`The import is done, but its bad lines cannot be written to ${this.path}: ${message}.`);
    }
  }

  close(): void {
    closeSync(this.spool);
  }

  private async replace(): Promise<void> {
    const descriptor = this.open(constants.O_TRUNC);
    try {
      const runs = this.runs.map((start, index) => this.linesBetween(start, this.runs[index + 1] ?? this.length));
      for await (const line of inOrder(runs)) writeSync(descriptor, `${line.slice(line.indexOf(' ') + 1)}\n`);
    } finally {
      closeSync(descriptor);
    }
  }

  private open(flags = 0): number {
    const how = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | flags;
    const descriptor = openSync(this.path, how, MODE);
    // The mode of a file that exists already.
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, MODE);
    return descriptor;
  }

  private linesBetween(start: number, end: number): AsyncIterator<string> {
    const input = createReadStream('', { fd: this.spool, start, end: end - 1, autoClose: false });
    return createInterface({ input })[Symbol.asyncIterator]();
  }
}

/** Opens a file that vanishes with the process, however it ends. */
function openNameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'compliance-api-errors-'));
  try {
    return openSync(join(directory, 'lines'), 'wx+', 0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface Head {
  readonly run: AsyncIterator<string, unknown>;
  readonly line: string;
}

async function* inOrder(runs: readonly Head['run'][]): AsyncGenerator<string> {
  let heads = await Promise.all(runs.map(headOf));
  for (;;) {
    const left = heads.filter((head) => head !== null);
    if (left.length === 0) return;
    const first = left.reduce((one, other) => (placeOf(other.line) < placeOf(one.line) ? other : one));
    yield first.line;
    const next = await headOf(first.run);
    heads = left.map((head) => (head === first ? next : head));
  }
}

/** Null after the last line. */
async function headOf(run: Head['run']): Promise<Head | null> {
  const { done, value } = await run.next();
  return done ? null : { run, line: value };
}

const placeOf = (line: string): number => parseInt(line, 10);

/** Undefined for a missing file, which the import reports. */
function inputAt(input: string): BigIntStats | undefined {
  if (input === '-') return fstatSync(STANDARD_INPUT, { bigint: true });
  return statSync(input, { bigint: true, throwIfNoEntry: false });
}

const isSameFile = (one: BigIntStats | undefined, other: BigIntStats): boolean =>
  one?.dev === other.dev && one.ino === other.ino;
