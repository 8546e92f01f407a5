import { constants, openSync, write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** Time that a line waits for others, and that a failed write waits for its retry. */
const GATHERED_FOR_MS = 20;
/** Characters of waiting lines. As many may be in the write under way. */
const LONGEST_BACKLOG = 2 * 1_048_576;
/** Time that the end of the process waits for a slow reader. */
const LAST_TRY_MS = 250;
const PAUSE_MS = 10;
const NOTHING = Buffer.alloc(0);

/**
 * Writes log lines and never waits for the reader or the disk. Lines that come close together share one write, because
 * under load a system call costs more than a line. While nothing can be written, lines wait in a bounded backlog.
 * Further lines are dropped and counted.
 *
 * pino's own destination is unsuitable: its `flushSync` repeats a failed write for ever, and it stays silent once the
 * reader is gone.
 */
export class LogOutput implements DestinationStream {
  /** Lines dropped since the start of the process. */
  dropped = 0;
  /** Called with the number of lines dropped since the last call, once writing works again. */
  onRecovery: (dropped: number) => void = () => undefined;

  private told = 0;
  private waiting = '';
  private unwritten = NOTHING;
  private timer: NodeJS.Timeout | null = null;
  private isWriting = false;

  constructor(private readonly descriptor: number) {}

  /** The standard output of the process. Write errors do not end the process. */
  static ofProcess(): LogOutput {
    // Node makes pipes and sockets non-blocking when their streams are first used.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    return new LogOutput(process.stdout.isTTY ? openTerminal() : 1);
  }

  write(line: string): void {
    if (this.waiting.length + line.length > LONGEST_BACKLOG) {
      this.dropped += 1;
      return;
    }
    this.waiting += line;
    this.writeSoon();
  }

  /** Writes the backlog for {@link LAST_TRY_MS} at most, because the process ends. pino calls it after a fatal line. */
  flushSync(): void {
    const until = performance.now() + LAST_TRY_MS;
    // The operating system owns the write in flight.
    let rest = Buffer.concat([this.isWriting ? NOTHING : this.unwritten, Buffer.from(this.waiting)]);
    [this.unwritten, this.waiting] = [NOTHING, ''];
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.descriptor, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > until) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      }
    }
  }

  private writeSoon(): void {
    this.timer ??= setTimeout(() => this.writeWaiting(), GATHERED_FOR_MS).unref();
  }

  private writeWaiting(): void {
    if (this.unwritten.length === 0) this.takeWaiting();
    this.isWriting = true;
    write(this.descriptor, this.unwritten, (_refused, written) => {
      this.isWriting = false;
      this.timer = null;
      this.unwritten = this.unwritten.subarray(written);
      if (this.unwritten.length > 0 || this.waiting !== '') this.writeSoon();
    });
  }

  /** The previous lines are written, so there is room again. */
  private takeWaiting(): void {
    [this.unwritten, this.waiting] = [Buffer.from(this.waiting), ''];
    const dropped = this.dropped - this.told;
    this.told = this.dropped;
    if (dropped > 0) this.onRecovery(dropped);
  }
}

/**
 * Opens the terminal again. The given descriptor is shared with other processes, so it must not become non-blocking.
 */
function openTerminal(): number {
  try {
    return openSync('/dev/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return 1;
  }
}
