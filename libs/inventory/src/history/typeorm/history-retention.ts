import { Injectable } from '@nestjs/common';
import { RepeatedWork } from '#libs/platform/background';
import { Settings } from '#libs/platform/config';
import { type BoundStatement, Database, bind, prepared } from '#libs/platform/database';
import { Metrics } from '#libs/platform/observability';

const PAUSE_MS = 10_000;
/** A round removes former states for so long, in batches that block nobody, and the next one goes on. */
const LONGEST_ROUND_MS = 2_000;
const FORGET = prepared('history_forget', 'SELECT forget_versions($1::integer)');
const ROWS = prepared('history_rows', `SELECT pg_stat_get_live_tuples('asset_version'::regclass)`);

/** Removes former states that ended before the horizon of retention. */
@Injectable()
export class HistoryRetention extends RepeatedWork {
  private rows: number | null = null;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    metrics: Metrics,
  ) {
    super(PAUSE_MS, 'former states were not removed');
    metrics.gauge({ name: 'compliance_history_rows', help: 'Former states of assets, about.' }, () => this.rows);
  }

  /** Removes what is due, and moves the first instants. */
  async round(): Promise<void> {
    // A wrong clock would remove states that are not due.
    await this.database.assertClocksAgree();
    const { historyRetentionDays } = this.settings;
    const deadline = performance.now() + LONGEST_ROUND_MS;
    let isDue = historyRetentionDays > 0;
    while (isDue && performance.now() < deadline) {
      this.assertServing();
      isDue = (await this.cellOf(bind(FORGET, [String(historyRetentionDays)]))) === 't';
    }
    this.rows = Number(await this.cellOf(bind(ROWS, [])));
  }

  private async cellOf(statement: BoundStatement): Promise<string | null | undefined> {
    const [[row] = []] = await this.database.run({ outsideTenants: true }, [statement]);
    return row?.[0];
  }
}
