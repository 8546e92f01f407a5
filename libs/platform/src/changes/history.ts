import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  type AssetId,
  DomainError,
  type HistoryEntry,
  type Page,
  type PageRequest,
  type ReadScope,
  type ThenRequest,
  ValidationFailed,
  type WorkspaceId,
  newestOf,
  toPage,
} from '#libs/kernel';
import { Database, READ_PATIENCE_MS } from '../database/database';
import { KeyQueue } from '../database/key-queue';
import { type BoundStatement, RowBudget, type TextRow, bind, prepared } from '../database/pipelined-statements';
import { FIND_MOMENT, type HistoryStatements } from './history-statements';
import { EVERY_KIND } from './feed-position';
import { originOf } from './ticket';

/** An item with the one member of which no former values are kept. */
interface Checked {
  readonly lastCheckedAt: Date | null;
}

/** Waits for tickets under way: each of them took this lock before it read the clock. */
export const AWAIT_TICKETS = prepared(
  'history_await_tickets',
  `SELECT pg_advisory_xact_lock_shared(hashtextextended('change_ticket ' || $1::uuid::text, 0))`,
);

/** Reads former states: those of one item, and those of all items at an instant. */
@Injectable()
export class History {
  private readonly turns = new KeyQueue<never>();

  constructor(private readonly database: Database) {}

  /** The states of one item, newest first. Null for an id of which no state was ever visible. */
  async entries<Item extends Checked>(
    scope: ReadScope,
    { entries: { statement, toItem } }: HistoryStatements<Item>,
    id: AssetId,
    { size, after, mostBytes = Infinity }: PageRequest,
  ): Promise<Page<HistoryEntry<Item>> | null> {
    const values = [scope.workspaceId, id, String(size + 1), after];
    // A state is shown with what differs from the one before it.
    const budget = new RowBudget(size + 1, mostBytes, 2);
    const read = () => this.database.read(scope, [bind(statement, values, budget)]);
    const [rows = []] = await this.inTurn(scope.workspaceId, read);
    const [total, wasVisible] = rows[0] ?? [];
    if (wasVisible !== 't') return null;
    const states = rows.flatMap((row) => {
      const [_total, _wasVisible, from, to, code, clientId, requestId, version, isVisible, ...columns] = row;
      if (isVisible == null) return [];
      const validTo = timeOf(to);
      const origin = code == null ? null : originOf(code, clientId, requestId);
      const who = origin?.type === 'API' ? null : (clientId ?? null);
      const item = isVisible === 't' ? asItWas(toItem(columns), validTo) : null;
      return [{ version, validFrom: timeOf(from) as Date, validTo, origin, who, item }];
    });
    const withBefore = states.map((state, place) => {
      const next = states[place + 1];
      return { ...state, before: next?.item ?? null, position: next?.version ?? '' };
    });
    // The last row of a page that was cut is the one before, too.
    const shown = budget.isCut ? states.length - 1 : size;
    return toPage(withBefore, shown, Number(total), ({ position }) => position);
  }

  /**
   * The item as a read at the instant showed it; null where it showed none. Later changes do not change the answer.
   * @throws `validation_failed` for an instant that cannot be asked for
   */
  async find<Item extends Checked>(
    scope: ReadScope,
    history: HistoryStatements<Item>,
    id: AssetId,
    { asOf: instant, expand }: ThenRequest,
  ): Promise<Item | null> {
    const { statement, toItem } = expand ? history.findExpanded : history.find;
    const bound = bind(statement, [scope.workspaceId, instant.toISOString(), id]);
    const { workspaceId } = scope;
    const row =
      (await this.rowOfPast(scope, instant, bound)) ??
      (await this.inTurn(`${workspaceId} now`, () => this.waitUntilOver(workspaceId, instant, bound)));
    const [_newest, _now, _first, ...columns] = row ?? [];
    return columns[0] == null ? null : asItWas(toItem(columns), instant);
  }

  /**
   * Reads for one request of a workspace at a time. An asset may have so many states that each read takes a second, and a few
   * of them would take all connections. So would reads of now that wait for a change, which have a key of their own.
   */
  private inTurn<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    return this.turns.inTurn(key, READ_PATIENCE_MS, MANY_READS, read);
  }

  /** The row of a statement where a change came after the instant. Any other may have megabytes, and is not kept. */
  private async rowOfPast(scope: ReadScope, instant: Date, statement: BoundStatement): Promise<TextRow | undefined> {
    const [[row] = []] = await this.inTurn(scope.workspaceId, () => this.database.read(scope, [statement]));
    return momentOf(row, instant).newest > instant.getTime() ? row : undefined;
  }

  /**
   * Returns the function that reads the items visible at the instant, page by page, once the instant is over. It counts none.
   * @throws `validation_failed` for an instant that cannot be asked for
   */
  async reader<Item extends Checked>(
    workspaceId: WorkspaceId,
    history: HistoryStatements<Item>,
    { asOf: instant, expand }: ThenRequest,
    [firstKind, lastKind]: readonly [number, number] = EVERY_KIND,
  ): Promise<(page: PageRequest) => Promise<Page<Item>>> {
    const { statement, toItem } = expand ? history.listExpanded : history.list;
    await this.waitUntilOver(workspaceId, instant);
    return async ({ size, after, mostBytes = Infinity }) => {
      const budget = new RowBudget(size + 1, mostBytes);
      const values = [workspaceId, instant.toISOString(), after ?? '0', String(size + 1), firstKind, lastKind];
      const bound = bind(statement, values.map(String), budget);
      const [rows = []] = await this.database.read(newestOf(workspaceId), [bound]);
      // Retention may have moved the first instant meanwhile.
      momentOf(rows[0], instant);
      const [_newest, _now, _first, windowEnd = null] = rows[0] ?? [];
      const found = rows
        .map(([_newest, _now, _first, _windowEnd, ...columns]) => columns)
        .filter(([id]) => id !== null);
      const page = toPage(found, size, 0, ([id]) => id as string);
      const endPosition = page.endPosition ?? (budget.isCut ? page.lastPosition : windowEnd);
      const items = page.items.map((row) => asItWas(toItem(row), instant));
      return { ...page, items, endPosition, lastPosition: endPosition ?? page.lastPosition };
    };
  }

  /**
   * Returns the row of a statement, which begins with the moment. By then no change can come any more whose time is the
   * instant or earlier.
   * @throws `validation_failed` for an instant that is not over and not now
   */
  async waitUntilOver(
    workspaceId: WorkspaceId,
    instant: Date,
    statement = bind(FIND_MOMENT, [workspaceId, instant.toISOString()]),
  ): Promise<TextRow | undefined> {
    const statements = [bind(AWAIT_TICKETS, [workspaceId]), statement];
    const time = instant.getTime();
    for (;;) {
      const [, [row] = []] = await this.database.read(newestOf(workspaceId), statements);
      const { newest, now } = momentOf(row, instant);
      const last = Math.max(newest, now);
      if (time > last) throw new OutOfRange('asOf', `must not be later than now, ${new Date(last).toISOString()}.`);
      if (time < last) return row;
      if (time - now > READ_PATIENCE_MS) throw new DomainError('service_unavailable', CLOCK_BEHIND);
      await delay(time + 1 - now);
    }
  }
}

const MANY_READS = 'Too many reads of the history wait. Send fewer.';
/** The clock of Postgres was set back. */
const CLOCK_BEHIND = 'The clock is behind the newest change. Send the request again, or an earlier asOf.';

/** Reads the moment at the beginning of a row. @throws `validation_failed` for an instant from before the history */
function momentOf(row: TextRow | undefined, instant: Date) {
  const [newest = 0, now = 0, first = 0] = row?.slice(0, 3).map(Number) ?? [];
  if (instant.getTime() < first) {
    const begin = new Date(first).toISOString();
    throw new OutOfRange('asOf', `must not be before ${begin}, where the history begins.`);
  }
  return { newest, now };
}

/** Check-ins are not kept, so a past state shows none that came after it. */
const asItWas = <Item extends Checked>(item: Item, until: Date | null): Item =>
  until !== null && item.lastCheckedAt !== null && item.lastCheckedAt > until ? { ...item, lastCheckedAt: null } : item;

const timeOf = (cell: string | null | undefined): Date | null => (cell == null ? null : new Date(Number(cell)));

/** A query names an instant or a day that cannot be asked for. */
export class OutOfRange extends ValidationFailed {
  constructor(parameter: string, rule: string) {
    super([{ parameter, code: 'range', detail: `${parameter} ${rule}` }]);
  }
}
