import { setTimeout as delay } from 'node:timers/promises';
import {
  ImportSession,
  type ImportSettings,
  type MergeOutcome,
  type NumberedRecord,
  type Refusal,
} from '../domain/import-store.port';
import { unknownTagKeys } from '../../tag-keys/domain/unknown-tag-keys';
import { ImportBatch } from './import-batch';
import type { ImportLane, Matched, Written } from './import-lane';
import type { ImportTagKeys } from './import-tag-keys';

const RETRIES = 3;
/** Deadlock and serialization failure: the whole batch is repeated. */
const PASSING = new Set(['40P01', '40001']);
const ANALYZE_FROM = 2_000;
/** A place before every record. */
const BEFORE_ALL = '-1';

/** Connections of an import. The first always exists, and one is enough. */
export interface ImportLanes {
  readonly first: ImportLane;
  openSecond(): Promise<ImportLane>;
  close(completed: boolean): Promise<void>;
}

/** Position of a batch behind the previous one. */
interface Turn {
  /** Settles when the previous batch ends. */
  readonly before: Promise<unknown>;
  /** Settles when the previous batch has taken its ids. */
  readonly numbered: Promise<unknown>;
  /** Call it when this batch has taken its ids. */
  sayNumbered(): void;
}

/**
 * Postgres does most of the work, and a connection uses one of its cores. So two batches run at the same time on two
 * connections when their order is irrelevant. Otherwise they run one after the other.
 */
export class ImportSessionTypeorm extends ImportSession {
  private reading = new ImportBatch();
  private readonly emptied: ImportBatch[] = [];
  /** The previous batch, its connection, and its ids: new assets are listed in the order of the lines. */
  private before: Promise<unknown> = Promise.resolve();
  private latest: ImportLane;
  private numbered: Promise<unknown> = Promise.resolve();
  private second: ImportLane | null = null;
  private opening: Promise<void> | null = null;
  /** The connection whose tables hold waiting records. From the first such record on, all batches use it. */
  private only: ImportLane | null = null;
  private deferred = 0;
  private written = 0;

  constructor(
    private readonly lanes: ImportLanes,
    private readonly settings: ImportSettings,
    private readonly tagKeys: ImportTagKeys,
  ) {
    super();
    this.latest = lanes.first;
    // Records that outlive a batch are stored on one connection.
    if (settings.dryRun || settings.hideMissing) this.only = lanes.first;
  }

  add(numbered: NumberedRecord): void {
    this.reading.add(numbered, this.tagKeys.known);
  }

  async merge(apart: boolean, spared: readonly string[]): Promise<MergeOutcome> {
    const { reading: batch, before, numbered } = this;
    this.reading = this.emptied.pop() ?? new ImportBatch();
    const other = apart && !this.only && batch.waiting.length === 0 ? this.otherLane() : null;
    this.latest = other ?? this.lanes.first;
    let sayNumbered = (): void => undefined;
    this.numbered = new Promise<void>((resolve) => (sayNumbered = resolve));
    const merged = other
      ? this.mergeAhead(batch, other, { before, numbered, sayNumbered })
      : before.then(() => this.mergeOn(this.lane, batch, spared));
    merged.then(sayNumbered, sayNumbered);
    this.before = merged;
    const outcome = await merged;
    batch.clear();
    this.emptied.push(batch);
    return outcome;
  }

  async *mergeDeferred(): AsyncIterable<MergeOutcome> {
    // An owner may itself wait for its owner, so passes repeat while one makes progress.
    for (let waiting = this.deferred, last = false; this.deferred > 0;) {
      for (let after = BEFORE_ALL; ;) {
        const start = after;
        const { written, next } = await this.inTransaction(this.lane, () =>
          this.mergeNextDeferred(start, last ? 'refuse' : 'defer'),
        );
        if (next === null) break;
        after = next;
        yield written;
      }
      last = this.deferred === waiting;
      waiting = this.deferred;
    }
  }

  async hideMissing(): Promise<number> {
    await this.lane.indexNames();
    let hidden = 0;
    for (let after = '0'; ;) {
      const start = after;
      const batch = await this.inTransaction(this.lane, () => this.lane.hideMissing(start));
      hidden += batch.hidden;
      if (batch.last === null) return hidden;
      after = batch.last;
    }
  }

  async close(completed: boolean): Promise<void> {
    try {
      if (completed && !this.settings.dryRun && this.written >= ANALYZE_FROM) await this.lane.analyze();
    } finally {
      await this.lanes.close(completed);
    }
  }

  /** The connection for work that does not overlap. */
  private get lane(): ImportLane {
    return this.only ?? this.lanes.first;
  }

  /** Returns null while there is only one connection, which is always so when no second one is available. */
  private otherLane(): ImportLane | null {
    this.opening ??= this.lanes.openSecond().then(
      (lane) => void (this.second = lane),
      () => undefined,
    );
    return this.second && this.latest === this.second ? this.lanes.first : this.second;
  }

  /**
   * A dry run is one transaction that is rolled back at the end. Otherwise each batch is a transaction, repeated when
   * necessary.
   */
  private async inTransaction<Result>(lane: ImportLane, work: () => Promise<Result>): Promise<Result> {
    if (this.settings.dryRun) {
      await lane.begin(true);
      const result = await work();
      this.tagKeys.commit();
      return result;
    }
    for (let attempt = 1; ; attempt += 1) {
      const deferredBefore = this.deferred;
      try {
        await lane.begin();
        const result = await work();
        await lane.commit();
        this.tagKeys.commit();
        return result;
      } catch (error) {
        await lane.rollback();
        this.tagKeys.rollback();
        this.deferred = deferredBefore;
        if (attempt > RETRIES || !isPassing(error)) throw error;
        await delay(50 * attempt * Math.random());
      }
    }
  }

  private mergeOn(lane: ImportLane, batch: ImportBatch, spared: readonly string[]): Promise<Written> {
    return this.inTransaction(lane, async () => {
      const unknownTags = await this.stage(lane, batch);
      if (this.settings.hideMissing && spared.length > 0) await lane.name(spared);
      return this.write(lane, await lane.match(), 'defer', batch.size, unknownTags);
    });
  }

  /** Errors are ignored here: they recur, or are gone, when the batch is merged from its beginning. */
  private async mergeAhead(batch: ImportBatch, lane: ImportLane, turn: Turn): Promise<Written> {
    const [writing] = await Promise.allSettled([this.writeAhead(batch, lane, turn), turn.before]);
    await turn.before;
    if (writing.status === 'fulfilled' && writing.value) return writing.value;
    await lane.rollback();
    if (this.only === lane) this.deferred = 0;
    // No ids to spare: an import that hides missing assets uses one connection.
    return this.mergeOn(this.only ?? lane, batch, []);
  }

  /** Returns null when the batch must be merged on the other connection. */
  private async writeAhead(batch: ImportBatch, lane: ImportLane, turn: Turn): Promise<Written | null> {
    await lane.begin();
    await lane.stage(batch.bytesWith([], this.tagKeys.known));
    await turn.numbered;
    const matched = await lane.match();
    turn.sayNumbered();
    // A batch of new assets only does not depend on the other batch, nor the other on it.
    if (matched.refused + matched.waiting + matched.changed + matched.checked > 0) await turn.before;
    if (this.only) return null;
    const written = await this.write(lane, matched, 'defer', batch.size, []);
    await lane.commit();
    return written;
  }

  /** Sends the batch to Postgres. Refuses records with unknown tag keys. */
  private async stage(lane: ImportLane, batch: ImportBatch): Promise<Refusal[]> {
    const { waiting } = batch;
    const keys = waiting.flatMap(({ record }) => record.tags.map(({ key }) => key));
    const known = await this.tagKeys.lookUp(lane.client, keys);
    const refused: Refusal[] = [];
    const accepted: NumberedRecord[] = [];
    for (const numbered of waiting) {
      const unknown = numbered.record.tags.filter(({ key }) => !known.has(key));
      if (unknown.length === 0) accepted.push(numbered);
      else {
        const { place, kept } = numbered;
        refused.push({ place, reason: unknownTagKeys(unknown.map(({ key }) => key)), kept });
        if (this.settings.hideMissing) await lane.name([numbered.record.externalId]);
      }
    }
    await lane.stage(batch.bytesWith(accepted, known));
    if (this.settings.hideMissing) await lane.nameStaged();
    return refused;
  }

  private async mergeNextDeferred(
    after: string,
    waiting: 'defer' | 'refuse',
  ): Promise<{ readonly written: Written; readonly next: string | null }> {
    const { lane } = this;
    if (waiting === 'refuse' && after === BEFORE_ALL) await lane.nameUnowned();
    const { last, taken, refused } = await lane.takeDeferred(after);
    this.deferred -= taken;
    return { written: await this.write(lane, await lane.match(), waiting, taken, refused), next: last };
  }

  private async write(
    lane: ImportLane,
    matched: Matched,
    waiting: 'defer' | 'refuse',
    total: number,
    refused: readonly Refusal[],
  ): Promise<Written> {
    const written = await lane.write(matched, waiting, total, refused);
    if (written.deferred > 0) this.only = lane;
    this.deferred += written.deferred;
    this.written += written.created + written.updated;
    return written;
  }
}

const isPassing = (error: unknown): boolean => PASSING.has(String((error as { code?: unknown }).code));
