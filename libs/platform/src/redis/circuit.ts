import { meansAway } from './redis-fault';

/** Within this time a command is answered, or Redis is away. */
const PATIENCE_MS = 50;
/** How long Redis is left alone after a failure; then one command tries whether it is back. */
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
 * fails opens it, and all that wait with it are answered at once. Open, none passes for a second; then one does, as the
 * probe, while the others are still refused, and its outcome closes the circuit or lets it rest again.
 */
export class Circuit {
  private restsUntil: number | null = null;
  private probing = false;
  private readonly waiting = new Set<(error: unknown) => void>();
  private turn: Turn | null = null;

  constructor(
    private readonly watcher: CircuitWatcher,
    private readonly now = (): number => performance.now(),
  ) {}

  get isOpen(): boolean {
    return this.restsUntil !== null;
  }

  /**
   * What the command gives, or throws what Redis says against it. {@link RedisAway} when it does not answer or is not
   * asked; {@link RedisSilent} where it may still do it.
   */
  async run<Result>(command: () => Promise<Result>): Promise<Result> {
    const isProbe = this.restsUntil !== null;
    if (this.restsUntil !== null && (this.probing || this.now() < this.restsUntil)) throw AWAY;
    this.probing = isProbe;
    try {
      const result = await this.wait(command);
      if (isProbe) this.close();
      return result;
    } catch (error) {
      if (meansAway(error)) {
        if (isProbe) this.restAgain(error);
        else this.open(error);
        throw error instanceof RedisSilent ? error : AWAY;
      }
      if (isProbe) this.close();
      throw error;
    } finally {
      if (isProbe) this.probing = false;
    }
  }

  open(error: unknown): void {
    if (this.restsUntil !== null) return;
    this.restsUntil = this.now() + REST_MS;
    this.watcher.opened(error);
    for (const release of this.waiting) release(error);
  }

  /** Lets every command pass again. */
  close(): void {
    if (this.restsUntil === null) return;
    this.restsUntil = null;
    this.watcher.closed();
  }

  private restAgain(error: unknown): void {
    this.restsUntil = this.now() + REST_MS;
    if (error instanceof RedisSilent) this.watcher.unansweredAgain();
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
