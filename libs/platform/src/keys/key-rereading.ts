import { type BeforeApplicationShutdown, Logger, type OnApplicationBootstrap } from '@nestjs/common';

/** Far within the time for which a key is published before it is used, so that a round may fail now and then. */
const INTERVAL_MS = 5_000;
/** After so long a round is late: its disk hangs. */
const LATE_MS = 5_000;

export interface KeyReading {
  /** Ids of the keys that are accepted now, newest first. */
  readonly kids: readonly string[];
  /** What could not be read, in words that show nothing of a key; the keys known before stay. */
  readonly faults: readonly string[];
}

/** Keys that are kept in files and may be replaced while the process runs. */
export interface RereadableKeys {
  /** Takes up what the files hold now. Never throws. */
  reread(): Promise<KeyReading>;
}

/** Reads the keys again every few seconds for as long as the API serves: a rotation needs no restart and no signal. */
export class KeyRereading implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Keys');
  private timer: NodeJS.Timeout | null = null;
  private stopping = false;
  private kids: string | null = null;
  private faults: ReadonlySet<string> = new Set();

  constructor(
    private readonly use: 'signing' | 'cursor',
    private readonly keys: RereadableKeys,
    private readonly intervalMs = INTERVAL_MS,
    private readonly lateMs = LATE_MS,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.round();
  }

  beforeApplicationShutdown(): void {
    this.stopping = true;
    if (this.timer) clearTimeout(this.timer);
  }

  private async round(): Promise<void> {
    const late = setTimeout(() => this.warnLate(), this.lateMs).unref();
    const { kids, faults } = await this.keys.reread();
    clearTimeout(late);
    if (this.stopping) return;
    // A fault is said when it begins, not at each round.
    for (const fault of faults) if (!this.faults.has(fault)) this.logger.warn(fault);
    this.faults = new Set(faults);
    const known = kids.join(' ');
    // Operators wait for it: under a context of its own it would be said to contributors alone.
    if (this.kids !== null && this.kids !== known) Logger.log({ message: 'took up keys', use: this.use, kids });
    this.kids = known;
    this.timer = setTimeout(() => void this.round(), this.intervalMs).unref();
  }

  /** The next round begins when this one has ended, so that a disk that hangs holds one thread and no more. */
  private warnLate(): void {
    this.logger.warn(`Reading the ${this.use} keys takes long; the keys in force stay.`);
  }
}
