import {
  type BigIntStats,
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  statSync,
  writeSync,
  constants,
} from 'node:fs';
import type { ImportError } from '#libs/inventory';
import { WrongUsage } from './command-faults';

const STANDARD_INPUT = 0;

/**
 * One bad line a line, as they come. What the file held before gives way to the first of them, or to the end of an import
 * without any: an import that fails before either leaves it as it was.
 */
export class ErrorFile {
  private readonly descriptor: number;
  private begun = false;

  constructor(path: string) {
    this.descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  }

  /** To write it would destroy what is to be read. */
  static refuseInput(path: string, inputs: readonly string[]): void {
    const there = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (there?.isFile() !== true) return;
    const same = inputs.find((input) => isSameFile(inputAt(input), there));
    if (same === undefined) return;
    const name = same === '-' ? 'standard input' : same;
    throw new WrongUsage(`--errors names ${name}, which is one of the files to import.`);
  }

  add(error: ImportError): void {
    this.begin();
    writeSync(this.descriptor, `${JSON.stringify(error)}\n`);
  }

  /** Nothing more comes of an import that was done. */
  complete(): void {
    this.begin();
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private begin(): void {
    if (!this.begun && fstatSync(this.descriptor).isFile()) ftruncateSync(this.descriptor);
    this.begun = true;
  }
}

/** Undefined where there is none, of which the import itself tells. */
function inputAt(input: string): BigIntStats | undefined {
  if (input === '-') return fstatSync(STANDARD_INPUT, { bigint: true });
  return statSync(input, { bigint: true, throwIfNoEntry: false });
}

const isSameFile = (one: BigIntStats | undefined, other: BigIntStats): boolean =>
  one?.dev === other.dev && one.ino === other.ino;
