import { Injectable } from '@nestjs/common';
import { type WorkspaceId, workspaceId as toWorkspaceId } from '#libs/kernel';
import { RepeatedWork } from '#libs/platform/background';
import { History, endOf } from '#libs/platform/changes';
import { Database, type TextRow, bind, prepared } from '#libs/platform/database';

const PAUSE_MS = 10_000;
/** Workspaces that are far behind may fail each time, so they come after the others. */
const DAYS = prepared(
  'history_days',
  `SELECT workspace, to_char(day, 'YYYY-MM-DD') FROM days_to_count() ORDER BY day DESC`,
);
/**
 * A count may take so long, because every later day of the workspace waits for it. One of which 300,000 assets changed since
 * takes three seconds. The alert for background work waits longer.
 */
const LONGEST_COUNT_MS = 600_000;
/** Tells which transaction counts. Instances take turns by workspace, so there is no row while another one counts. */
const BEGIN_COUNT = prepared(
  'history_begin_count',
  `SELECT pg_backend_pid(), now(), set_config('statement_timeout', '${LONGEST_COUNT_MS}', true)
    WHERE pg_try_advisory_xact_lock(hashtextextended('history days ' || $1, 0))`,
);
const CANCEL = prepared(
  'history_cancel',
  'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND xact_start = $2::timestamptz',
);
/** One statement, so that both counts are of one snapshot, which has every former state that they need. */
export const WRITE_DAY = prepared(
  'history_write_day',
  `INSERT INTO day_count (workspace_id, day, assets, computers)
   SELECT $1::uuid, $2::date, asset_counts_at($1::uuid, $3::timestamptz), computer_counts_at($1::uuid, $3::timestamptz)
    WHERE $3::timestamptz >= (SELECT history_begins_at FROM workspace WHERE id = $1::uuid)
       ON CONFLICT DO NOTHING`,
);

/** Writes the counts of past days. */
@Injectable()
export class HistoryWork extends RepeatedWork {
  /** The transaction that counts a day. */
  private counting: TextRow | null = null;

  constructor(
    private readonly database: Database,
    private readonly history: History,
  ) {
    super(PAUSE_MS, 'days of the history were not counted');
  }

  /** Writes the first day of each workspace that is over and not written yet. Returns whether none failed. */
  async round(): Promise<boolean> {
    // Days are written once, so a wrong clock would also fix days that are not over.
    await this.database.assertClocksAgree();
    const [found = []] = await this.database.run({ outsideTenants: true }, [bind(DAYS, [])]);
    let isWritten = true;
    for (const [workspace, day] of found as [string, string][]) {
      this.assertServing();
      try {
        await this.writeDay(toWorkspaceId(workspace), day);
        this.succeededAt = Date.now();
      } catch (error) {
        this.assertServing();
        isWritten = false;
        this.logger.warn({ message: 'a day was not counted', workspaceId: workspace, day, error });
      }
    }
    return isWritten;
  }

  /** Cancels a count: it may take longer than an instance has for its stop. */
  override async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    if (this.counting) {
      await this.database.run({ outsideTenants: true }, [bind(CANCEL, this.counting)]).catch(() => undefined);
    }
    await super.beforeApplicationShutdown();
  }

  /** Does nothing when another instance counts a day of the workspace. */
  private async writeDay(workspaceId: WorkspaceId, day: string): Promise<void> {
    const instant = endOf(day);
    await this.history.waitUntilOver(workspaceId, instant);
    await this.database.unitOfWork(
      { workspaceId },
      async () => {
        const [[transaction] = []] = await this.database.run({ workspaceId }, [bind(BEGIN_COUNT, [workspaceId])]);
        if (!transaction) return;
        this.assertServing();
        this.counting = transaction.slice(0, 2);
        await this.database.write({ workspaceId }, [bind(WRITE_DAY, [workspaceId, day, instant.toISOString()])]);
      },
      { deadline: performance.now() + LONGEST_COUNT_MS },
    );
  }
}
