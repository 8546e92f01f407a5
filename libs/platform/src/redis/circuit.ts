import { meansAway } from './redis-fault';

/** Within this time a command is answered, or Redis is away. */
const PATIENCE_MS = 50;
/** How long Redis is left alone after a failure; then a probe tries whether it is back. */
const REST_MS = 1_000;

/** Redis was not asked, or did not answer, or said that it cannot do its work. */
export class RedisAway extends Error {}

/** Redis was asked and did not answer in time. It may do what it was asked yet: `answer` is what it says then. */
export class RedisSilent extends RedisAway {
  constructor(readonly answer: Promise<unknown>) {
    super('Redis does not answer.');
  }
}

// Made once: during an outage every request meets it, and a stack is dear.
const AWAY = new RedisAway('Redis is away.');

/** Of the event loop: what is asked of Redis in it leaves the process when it ends. */
interface Turn {
  endedAt: number | null;
}

/** Hears each change once. */
export interface CircuitWatcher {
  opened(error: unknown): void;
  closed(): void;
  /** The probe was not answered either. */
  unansweredAgain(): void;
}

/**
 * What keeps a node of Redis that is away from costing more than one wait. Closed, every command passes. The first that
 * fails opens it, and all that wait with it are answered at once. Open, none passes. A probe goes beside them, one a second,
 * for which nobody waits; when it is answered the circuit is closed.
 */
export class Circuit {
  /** Null while it is closed; each time that it opens is another one. */
  private opening: object | null = null;
  private ended = false;
  private readonly waiting = new Set<(error: unknown) => void>();
  private turn: Turn | null = null;

  constructor(
    private readonly watcher: CircuitWatcher,
    /** Asks of the node what only one that does its work answers well. */
    private readonly probe: () => Promise<unknown>,
    private readonly afterRest = (task: () => void): void => void setTimeout(task, REST_MS).unref(),
  ) {}

  get isOpen(): boolean {
    return this.opening !== null;
  }

  /**
   * What the command gives, or throws what Redis says against it. {@link RedisAway} when it does not answer or is not
   * asked; {@link RedisSilent} where it may still do it.
   */
  async run<Result>(command: () => Promise<Result>): Promise<Result> {
    if (this.isOpen) throw AWAY;
    try {
      return await this.wait(command);
    } catch (error) {
      if (!meansAway(error)) throw error;
      this.open(error);
      throw error instanceof RedisSilent ? error : AWAY;
    }
  }

  open(error: unknown): void {
    if (this.isOpen || this.ended) return;
    const opening = (this.opening = {});
    for (const release of this.waiting) release(error);
    this.rest(opening);
    this.watcher.opened(error);
  }

  /** Lets every command pass again. */
  close(): void {
    if (!this.isOpen) return;
    this.opening = null;
    this.watcher.closed();
  }

  /** Nobody is to come any more: it neither opens nor probes again. */
  end(): void {
    this.ended = true;
    // One that no probe is about.
    if (this.isOpen) this.opening = {};
  }

  private rest(opening: object): void {
    this.afterRest(() => {
      if (this.opening === opening) void this.probeAfter(opening);
    });
  }

  /** Never rejects. */
  private async probeAfter(opening: object): Promise<void> {
    const fault = await this.wait(this.probe).then(
      () => null,
      (error: unknown) => (meansAway(error) ? { error } : null),
    );
    // Somebody else may have closed or ended it meanwhile.
    if (this.opening !== opening) return;
    if (fault === null) return this.close();
    this.rest(opening);
    if (fault.error instanceof RedisSilent) this.watcher.unansweredAgain();
  }

  /**
   * The outcome of the command, or {@link RedisSilent} when the patience is over that begins with the end of this turn;
   * whatever opens the circuit ends the wait.
   */
  private wait<Result>(command: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const answer = command();
      const turn = this.thisTurn();
      const silent = (): RedisSilent => new RedisSilent(answer);
      const settle = (outcome: () => void): void => {
        clearTimeout(timer);
        if (this.waiting.delete(release)) outcome();
      };
      const release = (error: unknown): void =>
        settle(() => reject(error instanceof RedisSilent ? silent() : (error as Error)));
      const late = (): void => {
        const left = turn.endedAt === null ? PATIENCE_MS : turn.endedAt + PATIENCE_MS - performance.now();
        // When this process itself was busy the answer may have come and not been read: after a late timer, sockets have
        // their turn before `setImmediate`.
        if (left <= 0) setImmediate(() => release(silent()));
        else timer = setTimeout(late, left);
      };
      let timer = setTimeout(late, PATIENCE_MS);
      this.waiting.add(release);
      answer.then((result) => settle(() => resolve(result)), release);
    });
  }

  private thisTurn(): Turn {
    if (this.turn) return this.turn;
    const turn: Turn = { endedAt: null };
    setImmediate(() => {
      turn.endedAt = performance.now();
      this.turn = null;
    });
    return (this.turn = turn);
  }
}
