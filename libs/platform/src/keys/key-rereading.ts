import { Logger } from '@nestjs/common';
import { RepeatedWork } from '../background/repeated-work';
import type { KeyUse } from './key-rotation';

/**
 * Much shorter than the time between publication and use of a key, so that single rounds may fail. Streams of a removed
 * key must end within five seconds.
 */
const INTERVAL_MS = 2_000;

export interface KeyReading {
  /** Ids of the accepted keys, newest first. */
  readonly kids: readonly string[];
  /** Messages about unreadable files, without any key material. The previous keys stay in force. */
  readonly faults: readonly string[];
}

/** Keys in files that may be replaced while the instance runs. */
export interface RereadableKeys {
  /** Loads the current files. Never throws. */
  reread(): Promise<KeyReading>;
}

/** Reads the keys again every few seconds while the instance serves. A rotation needs neither restart nor signal. */
export class KeyRereading extends RepeatedWork {
  private kids: string | null = null;
  private faults: ReadonlySet<string> = new Set();

  constructor(
    private readonly use: KeyUse,
    private readonly keys: RereadableKeys,
    intervalMs = INTERVAL_MS,
  ) {
    super(intervalMs, 'keys could not be read');
  }

  override async onApplicationBootstrap(): Promise<void> {
    await this.round();
    await super.onApplicationBootstrap();
  }

  /** Does not wait for a round: a disk that hangs must not hold up the end. */
  override async beforeApplicationShutdown(): Promise<void> {
    void super.beforeApplicationShutdown();
  }

  protected async round(): Promise<boolean> {
    const { kids, faults } = await this.keys.reread();
    if (this.stopping) return true;
    // Logs a fault when it begins, not in each round.
    for (const fault of faults) if (!this.faults.has(fault)) this.logger.warn(fault);
    this.faults = new Set(faults);
    const known = kids.join(' ');
    // Operators wait for this line. With a context it would be logged at debug level.
    if (this.kids !== null && this.kids !== known) Logger.log({ message: 'took up keys', use: this.use, kids });
    this.kids = known;
    return faults.length === 0;
  }
}
