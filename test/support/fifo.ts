import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Makes a named pipe. */
export function makeFifo(path: string): string {
  const made = spawnSync('mkfifo', [path]);
  if (made.status !== 0) throw new Error(`mkfifo: ${made.stderr?.toString()}`);
  return path;
}

/** A named pipe that is read only when the test says so. */
export class Fifo {
  readonly path = makeFifo(join(mkdtempSync(join(tmpdir(), 'compliance-fifo-')), 'pipe'));
  private reader: number | null = this.openReader();
  /** A descriptor for the writing process. */
  readonly writer: number;
  text = '';

  constructor({ isNonBlocking = false } = {}) {
    this.writer = openSync(this.path, constants.O_WRONLY | (isNonBlocking ? constants.O_NONBLOCK : 0));
  }

  /** Reads the available data. */
  read(): void {
    const buffer = Buffer.alloc(65_536);
    try {
      for (;;) {
        const length = readSync(this.reader as number, buffer);
        if (length === 0) return;
        this.text += buffer.toString('utf8', 0, length);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }

  /** Closes the reader, as if it had died. Unread data is lost. */
  leave(): void {
    if (this.reader !== null) closeSync(this.reader);
    this.reader = null;
  }

  comeBack(): void {
    this.reader = this.openReader();
  }

  remove(): void {
    this.leave();
    closeSync(this.writer);
    rmSync(dirname(this.path), { recursive: true });
  }

  private openReader(): number {
    return openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
  }
}
