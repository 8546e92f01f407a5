import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Database, type Statement, bind } from '#libs/platform/database';

const BATCH = 500;
/** Ten batches a minute: 300,000 sets an hour and instance. */
const PAUSE_MS = 6_000;
const MARK: Statement = {
  name: 'change_mark_empty_1',
  text: 'SELECT workspace, after, marked FROM mark_empty_change_sets($1::uuid, $2::bigint, $3::integer)',
};
/** Before the first set of any workspace. */
const START = ['00000000-0000-0000-0000-000000000000', '0'] as const;

/** Marks empty change sets of all workspaces while the instance serves, batch by batch and then from the start again. */
@Injectable()
export class EmptyChangeSets implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('EmptyChangeSets');
  private position: readonly [workspace: string, sequence: string] = START;
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    this.timer = setTimeout(() => {
      this.running = this.runBatch();
    }, PAUSE_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  /** Looks at the next sets and returns how many it marked. After the last set it begins again. */
  async markNext(): Promise<number> {
    const values = [...this.position, String(BATCH)];
    const [rows] = await this.database.run({ outsideTenants: true }, [bind(MARK, values)]);
    const [workspace, sequence, marked] = rows?.[0] ?? [];
    this.position = workspace && sequence ? [workspace, sequence] : START;
    return Number(marked);
  }

  private async runBatch(): Promise<void> {
    try {
      await this.markNext();
    } catch (error) {
      if (!this.stopping) this.logger.warn({ message: 'empty change sets were not marked', error });
    }
    if (!this.stopping) this.onApplicationBootstrap();
  }
}
