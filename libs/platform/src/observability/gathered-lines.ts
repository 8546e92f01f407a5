import type { DestinationStream } from 'pino';

/** The parts of a file or pipe, written to in pieces of its own choice, that are used here. */
export interface BufferedDestination {
  /** Keeps the line. */
  write(line: string): unknown;
  /** Writes what it keeps, be it nothing, unless it is writing: then it does nothing. */
  flush(): void;
  /** Tells, once, when it has written and writes no more. */
  once(event: 'drain', listener: () => void): unknown;
  flushSync(): void;
}

/** How long a line may wait for others. */
const GATHERED_FOR_MS = 20;

/**
 * Lines that come close together are written together: under load a system call for each costs more than making it. What
 * waits when the process ends by itself or by an error is written; `kill -9` loses the last {@link GATHERED_FOR_MS}.
 */
export class GatheredLines implements DestinationStream {
  private timer: NodeJS.Timeout | null = null;
  private flushing = false;
  /** Lines had waited their time while others were being written. */
  private overdue = false;

  constructor(private readonly destination: BufferedDestination) {}

  write(line: string): void {
    this.destination.write(line);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.flush();
    }, GATHERED_FOR_MS).unref();
  }

  private flush(): void {
    this.overdue = this.flushing;
    if (this.flushing) return;
    this.flushing = true;
    this.destination.once('drain', () => {
      this.flushing = false;
      if (this.overdue) this.flush();
    });
    this.destination.flush();
  }

  /** Called by pino before it gives control back from a fatal error. */
  flushSync(): void {
    this.destination.flushSync();
  }
}
