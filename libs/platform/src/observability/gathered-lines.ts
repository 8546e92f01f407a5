import type { DestinationStream } from 'pino';

/** The parts of a file or pipe, written to in pieces of its own choice, that are used here. */
export interface BufferedDestination {
  /** Keeps what it can; writes when it has enough. */
  write(line: string): unknown;
  /** Writes what it keeps, now or as soon as what it writes already is out. */
  flush(): void;
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

  constructor(private readonly destination: BufferedDestination) {}

  write(line: string): void {
    this.destination.write(line);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.destination.flush();
    }, GATHERED_FOR_MS).unref();
  }

  /** Called by pino before it gives control back from a fatal error. */
  flushSync(): void {
    this.destination.flushSync();
  }
}
