import { meansAway } from './redis-fault';

/** Maximum wait for the reply to a command. After that Redis counts as away. */
const PATIENCE_MS = 50;
/** Time between a failure and the next probe. */
const REST_MS = 1_000;

/** The command was not sent, got no reply in time, or Redis cannot do its work. */
export class RedisAway extends Error {}

// Created once: during an outage every request throws it, and stack traces are expensive.
const AWAY = new RedisAway('Redis is away.');

export interface CircuitWatcher {
  opened(error: unknown): void;
  closed(): void;
  probeFailed(): void;
}

/**
 * The circuit breaker in front of Redis. Closed, every command passes; the first failure opens it. Open, no command
 * passes. Once a second it is half-open: a probe runs beside the requests, and when Redis replies the breaker closes.
 * So an outage costs a client one wait.
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

  /**
   * Runs a command about this key.
   * @throws {@link RedisAway}, or the error with which Redis refuses the command itself
   */
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

  /** Stops probing. */
  end(): void {
    this.ended = true;
  }

  /** Probes the key that failed, because in a cluster other keys may live on other nodes. */
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
 * Rejects when no reply comes in time. The time starts at the end of this turn of the event loop, when commands are
 * written (`redis-commands.ts`). A reply that arrived while this instance was busy still counts: after a late timer,
 * sockets are read before `setImmediate`. The `commandTimeout` of ioredis does neither.
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
