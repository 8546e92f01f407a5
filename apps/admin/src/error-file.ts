import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonLine } from '#libs/kernel';
import type { BadLine } from '#libs/inventory/operators';
import { CommandFailed, WrongUsage } from './command-faults';

const STANDARD_INPUT = 0;
/** Bad lines may hold personal data. */
const MODE = 0o600;

/**
 * Collects bad lines and writes them in input order, one per line, when the import ends. A failed import leaves the file
 * unchanged, and makes no new one.
 */
export class ErrorFile {
  private readonly spool = openNameless();
  /** Of each line its place in the input and its end in the spool: numbers, as there may be millions. */
  private readonly places: number[] = [];
  private readonly ends: number[] = [];

  /** @throws when the file cannot be written */
  constructor(private readonly path: string) {
    const isNew = !existsSync(path);
    closeSync(this.open());
    // However the process ends, it leaves no file that it made only to see whether it can.
    if (isNew) rmSync(path);
  }

  /**
   * Refuses a path that must not be written. A link may name any file; opening follows none, so a link that appears later is
   * refused too. A pipe that nobody reads would hold the process for ever. Writing to an input file, or to a map, would
   * destroy it.
   */
  static refuse(path: string, inputs: readonly string[]): void {
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (there?.isSymbolicLink())
      throw new WrongUsage(`--errors names ${path}, which is a symbolic link. Name the file itself.`);
    if (there?.isFIFO()) throw new WrongUsage(`--errors names ${path}, which is a pipe. Name a file.`);
    const same = there?.isFile() && inputs.find((input) => isSameFile(inputAt(input), there));
    if (!same) return;
    const name = same === '-' ? 'standard input' : same;
    throw new WrongUsage(`--errors names ${name}, which is one of the files that the import reads.`);
  }

  add({ place, file, line, reason, header, text, base64 }: BadLine): void {
    const written = writeSync(this.spool, `${jsonLine({ file, line, reason, header, text, base64 })}\n`);
    this.places.push(place);
    this.ends.push((this.ends.at(-1) ?? 0) + written);
  }

  /** Replaces the previous content, once the import is done. @throws {@link CommandFailed} where it cannot be written */
  complete(): void {
    try {
      this.replace();
    } catch (error) {
      const { message } = error as Error;
      throw new CommandFailed(`The import is done, but its bad lines cannot be written to ${this.path}: ${message}.`);
    }
  }

  close(): void {
    closeSync(this.spool);
  }

  private replace(): void {
    const descriptor = this.open(constants.O_TRUNC);
    try {
      const placeOf = (at: number): number => this.places[at] ?? 0;
      for (const at of [...this.places.keys()].sort((one, other) => placeOf(one) - placeOf(other))) {
        const start = this.ends[at - 1] ?? 0;
        const line = Buffer.alloc((this.ends[at] ?? 0) - start);
        readSync(this.spool, line, 0, line.length, start);
        writeSync(descriptor, line);
      }
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

/** Undefined for a missing file, which the import reports. */
function inputAt(input: string): BigIntStats | undefined {
  if (input === '-') return fstatSync(STANDARD_INPUT, { bigint: true });
  return statSync(input, { bigint: true, throwIfNoEntry: false });
}

const isSameFile = (one: BigIntStats | undefined, other: BigIntStats): boolean =>
  one?.dev === other.dev && one.ino === other.ino;
