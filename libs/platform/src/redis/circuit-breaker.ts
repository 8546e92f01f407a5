import { meansAway } from './redis-fault';

/** Redis replies to a command within this time, or it is away. */
const PATIENCE_MS = 50;
/** After a failure Redis is left alone for this long. Then a probe finds out whether it is back. */
const REST_MS = 1_000;

/** Redis was not asked, did not reply in time, or cannot do its work. */
export class RedisAway extends Error {}

// Made once: during an outage every request throws it, and a stack is dear.
const AWAY = new RedisAway('Redis is away.');

export interface CircuitWatcher {
  opened(error: unknown): void;
  closed(): void;
  probeFailed(): void;
}

/**
 * The circuit breaker in front of Redis. Closed, every command passes; the first that fails opens it. Open, no command
 * passes. Once a second it is half-open: a probe goes beside the requests, and when Redis replies the breaker is closed. So
 * an outage costs a client one wait.
 */
export class CircuitBreaker {
  private state: 'closed' | 'open' | 'half-open' = 'closed';
  private ended = false;

  constructor(
    private readonly watcher: CircuitWatcher,
    /** Resolves when Redis does its work for this key. */
    private readonly probe: (key: string) => Promise<unknown>,
  ) {}

  get isClosed(): boolean {
    return this.state === 'closed';
  }

  /** Runs a command about this key. @throws {@link RedisAway}, or the error by which Redis refuses the command itself. */
  async run<Result>(key: string, command: () => Promise<Result>): Promise<Result> {
    if (!this.isClosed) throw AWAY;
    try {
      return await replyInTime(command());
    } catch (error) {
      if (!meansAway(error)) throw error;
      this.open(key, error);
      throw AWAY;
    }
  }

  open(key: string, error: unknown): void {
    if (!this.isClosed || this.ended) return;
    this.state = 'open';
    this.watcher.opened(error);
    this.probeLater(key);
  }

  /** No more probes. */
  end(): void {
    this.ended = true;
  }

  /** The key that failed is the one to try: in a cluster another node may have the others. */
  private probeLater(key: string): void {
    setTimeout(() => void this.halfOpen(key), REST_MS).unref();
  }

  private async halfOpen(key: string): Promise<void> {
    if (this.ended) return;
    this.state = 'half-open';
    const isAway = await replyInTime(this.probe(key)).then(() => false, meansAway);
    if (this.ended) return;
    if (isAway) {
      this.state = 'open';
      this.watcher.probeFailed();
      this.probeLater(key);
    } else {
      this.state = 'closed';
      this.watcher.closed();
    }
  }
}

/**
 * Rejects when there is no reply in time. The time begins at the end of this turn of the event loop, because commands leave
 * then (`gathered-commands.ts`). A reply that came while this process was busy is read before the time is over: after a late
 * timer sockets have their turn before `setImmediate`. The `commandTimeout` of ioredis would do neither.
 */
function replyInTime<Result>(reply: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const late = (): void => reject(new Error('No reply in time.'));
    const leaves = setImmediate(() => {
      timer = setTimeout(() => setImmediate(late), PATIENCE_MS);
    });
    const settled = (): void => {
      clearImmediate(leaves);
      clearTimeout(timer);
    };
    reply.finally(settled).then(resolve, reject);
  });
}
