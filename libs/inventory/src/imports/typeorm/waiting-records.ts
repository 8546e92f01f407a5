import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { MergeOutcome, Refusal } from '../domain/import-store.port';
import { ownerCircles } from '../domain/owner-circles';
import { OWNERS } from './owner-statements';
import type { StagingConnection, Step } from './staging-connection';
import * as sql from './waiting-statements';

/** A place before every record. */
const BEFORE_ALL = '-1';
/**
 * Passes over all that wait: more than any organization has levels. Each level may take one, and an import whose employees
 * own one another in a long row would never end.
 */
const MOST_PASSES = 30;
export const NOTHING_WRITTEN: MergeOutcome = {
  created: 0,
  updated: 0,
  unchanged: 0,
  refused: [],
  deferred: [],
  warned: [],
};

type Which = keyof typeof sql.TAKE_DEFERRED;

/** Records that wait for their owners until the whole input is read. */
export class WaitingRecords {
  private count = 0;
  /** The part of them in the tables of the second connection. */
  private onSecond = 0;

  constructor(
    private readonly connection: StagingConnection,
    private readonly strict: boolean,
    private readonly inTransaction: <Result>(work: (isRepeat: boolean) => Promise<Result>) => Promise<Result>,
    private readonly hold: () => Promise<Refusal[]>,
  ) {}

  add(count: number, isOnSecond: boolean): void {
    this.count += count;
    if (isOnSecond) this.onSecond += count;
  }

  /**
   * Merges them. An owner may itself wait for its owner, so passes repeat while one makes progress. After the last one,
   * employees who wait still get no owner before the next import.
   */
  async *merge(second: StagingConnection | null, which: Which): AsyncIterable<MergeOutcome> {
    if (second && this.onSecond > 0) await this.takeFrom(second);
    let step: Step = 'wait';
    let passes = 0;
    for (let before = this.count; this.count > 0; before = this.count) {
      if ((yield* this.pass(step, which)) === 0) return;
      passes += 1;
      // A pass writes anew what waits again, and Postgres itself vacuums no temporary table.
      await this.connection.client.query(sql.FREE_DEFERRED);
      if (passes === MOST_PASSES) {
        await this.connection.client.query(sql.FORGET_OWNERS);
        step = 'release';
      } else if (this.count < before) step = 'wait';
      else if (step === 'wait') step = 'release';
      else {
        const circles = await this.inTransaction(() => this.endCircles());
        let refused: Refusal[];
        do {
          refused = await this.inTransaction(() => this.connection.refuse(sql.REFUSE_WAITING, [circles]));
          this.count -= refused.length;
          yield { ...NOTHING_WRITTEN, refused };
        } while (refused.length > 0);
      }
    }
  }

  /** Returns how many of them wait again. */
  private async *pass(step: Step, which: Which): AsyncGenerator<MergeOutcome, number> {
    let waiting = 0;
    for (let after = BEFORE_ALL; ;) {
      const start = after;
      const { written, taken, last } = await this.inTransaction((isRepeat) =>
        this.mergeNext(sql.TAKE_DEFERRED[which], start, step, isRepeat),
      );
      if (last === null) return waiting;
      after = last;
      waiting += written.deferred.length;
      this.count += written.deferred.length - taken;
      yield written;
    }
  }

  /** Merges the next batch of them, in a transaction that may be repeated. `last` is null when none was left. */
  private async mergeNext(take: string, after: string, step: Step, isRepeat: boolean) {
    const { connection } = this;
    const releases = step === 'release';
    if (releases && after === BEFORE_ALL) await connection.client.query(sql.NAME_WAITING_EMPLOYEES);
    const { last, taken } = await connection.row<{ last: string | null; taken: number }>(take, [after]);
    const refused = await connection.refuse(sql.REFUSE_SAME_IDS);
    if (isRepeat) refused.push(...(await this.hold()));
    const unowned = releases ? await this.unowned() : [];
    if (this.strict) refused.push(...unowned);
    const written = await connection.write(await connection.match(step), taken, refused);
    return { written: { ...written, warned: this.strict ? [] : unowned }, taken, last };
  }

  /** The staged records whose owner is not there and will not come. A strict import refuses them. */
  private async unowned(): Promise<Refusal[]> {
    const { connection, strict } = this;
    const { unowned, refuseUnowned } = OWNERS[connection.dryRun ? 'planned' : 'real'];
    return connection.refuse(strict ? refuseUnowned : unowned, [connection.workspaceId, connection.source]);
  }

  /**
   * All that wait now wait for somebody who waits too. Returns those to refuse, who wait for each other. Those who do by
   * e-mail address get no owner, and nobody does where too many wait.
   */
  private async endCircles(): Promise<number[]> {
    const { client } = this.connection;
    const { rows } = await client.query<{ place: string; owner: string; by_email: boolean }>(sql.WAITING_FOR_EMPLOYEES);
    if (rows.length > sql.MOST_WAITING_EMPLOYEES) {
      await client.query(sql.FORGET_OWNERS);
      return [];
    }
    const circles = ownerCircles(new Map(rows.map(({ place, owner }) => [Number(place), Number(owner)])));
    if (circles.length === 0) throw new Error('Records wait for owners who do not.');
    const byEmail = new Set(rows.filter(({ by_email }) => by_email).map(({ place }) => Number(place)));
    const forgotten = circles.filter((place) => byEmail.has(place));
    if (forgotten.length === 0) return circles;
    await client.query(sql.FORGET_ADDRESSES, [forgotten]);
    return [];
  }

  /** The other connection is of no more use after a failure. */
  private async takeFrom({ client }: StagingConnection): Promise<void> {
    const from = client.query(copyTo(sql.COPY_DEFERRED_OUT));
    await pipeline(from, this.connection.client.query(copyFrom(sql.COPY_DEFERRED_IN)));
  }
}
