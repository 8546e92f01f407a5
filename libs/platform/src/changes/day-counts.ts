import { Injectable } from '@nestjs/common';
import { DAY_MS, DomainError, type WorkspaceId, newestOf } from '#libs/kernel';
import { Database } from '../database/database';
import { type BoundStatement, bind, prepared } from '../database/pipelined-statements';
import { AWAIT_TICKETS, OutOfRange } from './history';

/** `stored` is the column with the counts of past days, `countsAt` the inventory's function that counts at an instant. */
const statementsOf = (stored: string, countsAt: string) => ({
  /** Values: $1 workspace, $2 and $3 the first and last day: none without a first one, all later ones without a last one. */
  stored: prepared(
    `${stored}_by_day`,
    `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD'),
            (SELECT (extract(epoch FROM history_begins_at) * 1000)::bigint FROM workspace WHERE id = $1),
            (SELECT json_object_agg(day, ${stored} ORDER BY day) FROM day_count
              WHERE workspace_id = $1 AND day BETWEEN $2::date AND coalesce($3::date, 'infinity'))`,
  ),
  /**
   * Values: $1 workspace, $2 instant. No row for an instant from before the history. Retention moves the beginning before it
   * removes. One statement, so that its snapshot has what it counts.
   */
  countsAt: prepared(
    countsAt,
    `SELECT ${countsAt}($1, $2::timestamptz)
      WHERE $2::timestamptz >= (SELECT history_begins_at FROM workspace WHERE id = $1)`,
  ),
});

export const DAY_COUNTS = {
  assets: statementsOf('assets', 'asset_counts_at'),
  computers: statementsOf('computers', 'computer_counts_at'),
};
export type Counted = keyof typeof DAY_COUNTS;

/** Days of UTC, as in ISO 8601. */
interface DayRange {
  readonly from?: string;
  readonly to?: string;
}

/** The counts of a day: for each cell an array of its values, and the number behind them. */
export interface CountedDay {
  /** UTC, as in ISO 8601. */
  readonly date: string;
  /** False for today, whose counts are those of now. */
  readonly isFinal: boolean;
  readonly cells: readonly (readonly number[])[];
}

/** Days of one answer. */
const MOST_DAYS = 400;
/** Past days that are counted for an answer because the worker has not written them yet. */
const MOST_UNWRITTEN = 3;
const UNWRITTEN = 'Several of these days are being counted. Send the request again, or for fewer days.';

/** Reads counts by day. */
@Injectable()
export class DayCounts {
  constructor(private readonly database: Database) {}

  /** The days from `from` to `to` that the worker has written, in their order: one probe, whatever the inventory holds. */
  async written(workspaceId: WorkspaceId, of: Counted, from: string, to: string): Promise<CountedDay[]> {
    const { written } = await this.stored(workspaceId, of, { from, to });
    return Object.entries(written).map(([date, cells]) => ({ date, isFinal: true, cells }));
  }

  /**
   * The days from `from` to `to` that the history knows, in their order. Both default to today. Reads twice at most.
   * @throws `validation_failed`; `service_unavailable` while the worker has many days to write
   */
  async days(workspaceId: WorkspaceId, of: Counted, { from: first, to }: DayRange): Promise<CountedDay[]> {
    const from = first ?? to;
    // A change under way may belong to a past day. Writers wait for this read, but not for the counts.
    const waits = from === undefined ? [] : [bind(AWAIT_TICKETS, [workspaceId])];
    const { today, begins, written } = await this.stored(workspaceId, of, { from, to }, waits);
    const days = daysOf(from ?? today, to ?? today, today);
    const known = days.filter((date) => date in written || endOf(date) >= begins);
    const uncounted = known.filter((date) => !(date in written));
    if (uncounted.filter((date) => date !== today).length > MOST_UNWRITTEN) {
      throw new DomainError('service_unavailable', UNWRITTEN);
    }
    const counts = uncounted.map((date) =>
      bind(DAY_COUNTS[of].countsAt, [workspaceId, date === today ? 'infinity' : endOf(date).toISOString()]),
    );
    const counted = counts.length === 0 ? [] : await this.database.read(newestOf(workspaceId), counts);
    return known.flatMap((date) => {
      const text = counted[uncounted.indexOf(date)]?.[0]?.[0];
      const cells = text ? (JSON.parse(text) as CountedDay['cells']) : written[date];
      return cells ? [{ date, isFinal: date !== today, cells }] : [];
    });
  }

  /** The days that the worker has written, with today's date and the time at which the history begins. */
  private async stored(workspaceId: WorkspaceId, of: Counted, { from, to }: DayRange, waits: BoundStatement[] = []) {
    const statements = [...waits, bind(DAY_COUNTS[of].stored, [workspaceId, from ?? null, to ?? null])];
    const rows = await this.database.read(newestOf(workspaceId), statements);
    const [today, begins, counts] = rows.at(-1)?.[0] ?? [];
    const written = JSON.parse(counts ?? '{}') as Record<string, CountedDay['cells']>;
    return { today: today as string, begins: new Date(Number(begins)), written };
  }
}

/** The last instant of a day. */
export const endOf = (date: string): Date => new Date(Date.parse(date) + DAY_MS - 1);

/** @throws `validation_failed` */
function daysOf(from: string, to: string, today: string): string[] {
  if (to > today) throw new OutOfRange('to', `must not be later than today, ${today}.`);
  if (from > to) throw new OutOfRange('from', `must not be later than ${to}.`);
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (count > MOST_DAYS) throw new OutOfRange('from', `must be at most ${MOST_DAYS} days before to, both counted.`);
  return Array.from({ length: count }, (_, day) =>
    new Date(Date.parse(from) + day * DAY_MS).toISOString().slice(0, 10),
  );
}
