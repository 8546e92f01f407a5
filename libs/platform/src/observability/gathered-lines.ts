import type { DestinationStream } from 'pino';

/** The parts of a file or pipe, written to in pieces of its own choice, that are used here. */
export interface BufferedDestination {
  /** Keeps what it can; writes when it has enough. */
  write(line: string): unknown;
  /** Writes what it keeps, unless it is writing: then it does nothing. */
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

  constructor(private readonly destination: BufferedDestination) {}

  write(line: string): void {
    this.destination.write(line);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.flush();
    }, GATHERED_FOR_MS).unref();
  }

  private flush(): void {
    if (this.flushing) return;
    this.flushing = true;
    this.destination.once('drain', () => {
      this.flushing = false;
      // What came while it was writing would be left there until the next line comes.
      this.destination.flush();
    });
    this.destination.flush();
  }

  /** Called by pino before it gives control back from a fatal error. */
  flushSync(): void {
    this.destination.flushSync();
  }
}
