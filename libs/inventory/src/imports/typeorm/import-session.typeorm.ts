import { setTimeout as delay } from 'node:timers/promises';
import {
  ImportSession,
  type ImportSettings,
  type MergeOutcome,
  type NumberedRecord,
  type Refusal,
  type RunFailure,
} from '../domain/import-store.port';
import type { ImportCounts } from '../domain/import-report';
import type { RunResult } from '../domain/recorded-run';
import { ImportBatch } from './import-batch';
import type { SourceBefore } from './missing-statements';
import type { RunRecord } from './run-record';
import { type BatchOrder, type StagingConnections, isPassing } from './staging-connections';
import type { AssetPage, StagingConnection } from './staging-connection';
import { type ImportTagKeys, unknownTagKeys } from './import-tag-keys';

const RETRIES = 3;
const ANALYZE_FROM = 2_000;
/** A place before every record. */
const BEFORE_ALL = '-1';

/** What becomes of records whose owner is not there: all wait, or only those whose owner waits too. */
type Step = 'wait' | 'release';

/**
 * Postgres does most of the work, and a connection uses one of its cores. So two batches run at the same time on two
 * connections when their order is irrelevant. Otherwise they run one after the other. Records that wait for their owners
 * stay on the connection that read them until the end.
 */
export class ImportSessionTypeorm extends ImportSession {
  readonly visibleBefore: number;
  readonly newSource: boolean;
  private reading = new ImportBatch();
  private readonly emptied: ImportBatch[] = [];
  /** The previous batch, its connection, and its ids: new assets are listed in the order of the lines. */
  private before: Promise<unknown> = Promise.resolve();
  private latest: StagingConnection;
  private numbered: Promise<unknown> = Promise.resolve();
  private second: StagingConnection | null = null;
  private opening: Promise<void> | null = null;
  /** Number of records that wait for their owners, and of those in the tables of the second connection. */
  private deferred = 0;
  private deferredOnSecond = 0;
  private written = 0;
  /** A source without visible assets has none to rekey. */
  private readonly rekeys: boolean;
  private readonly remembersNames: boolean;

  constructor(
    private readonly connections: StagingConnections,
    private readonly settings: ImportSettings,
    private readonly tagKeys: ImportTagKeys,
    { visible, isNew }: SourceBefore,
    /** Null for a dry run. */
    private readonly run: RunRecord | null,
  ) {
    super();
    this.latest = connections.first;
    this.visibleBefore = visible;
    this.newSource = isNew;
    this.rekeys = settings.rekeyBySerial && visible > 0;
    this.remembersNames = settings.hideMissing || this.rekeys;
  }

  add(numbered: NumberedRecord): void {
    this.reading.add(numbered, this.tagKeys.known);
  }

  async merge(mayOverlap: boolean, keptVisible: readonly string[]): Promise<MergeOutcome> {
    const { reading: batch, before, numbered } = this;
    this.reading = this.emptied.pop() ?? new ImportBatch();
    const other = mayOverlap && batch.waiting.length === 0 ? this.otherConnection() : null;
    this.latest = other ?? this.connections.first;
    let sayNumbered = (): void => undefined;
    this.numbered = new Promise<void>((resolve) => (sayNumbered = resolve));
    const merged = other
      ? this.mergeAhead(batch, other, { before, numbered, sayNumbered })
      : before.then(() => this.mergeOn(this.connections.first, batch, keptVisible));
    merged.then(sayNumbered, sayNumbered);
    this.before = merged;
    const outcome = await merged;
    batch.clear();
    this.emptied.push(batch);
    return outcome;
  }

  async rekey(): Promise<number> {
    if (!this.rekeys) return 0;
    const { first } = this.connections;
    await first.indexNames();
    const found = await this.inTransaction(first, () => first.findRekeyed());
    if (!this.settings.dryRun) await this.eachPage((after) => first.rekey(after));
    return found;
  }

  async *mergeDeferred(): AsyncIterable<MergeOutcome> {
    if (this.second && this.deferredOnSecond > 0) await this.connections.first.moveDeferredFrom(this.second);
    // An owner may itself wait for its owner, so passes repeat while one makes progress.
    let step: Step = 'wait';
    for (let waiting = this.deferred; this.deferred > 0;) {
      for (let after = BEFORE_ALL; ;) {
        const start = after;
        const { written, taken, next } = await this.inTransaction(this.connections.first, (isRepeat) =>
          this.mergeNextDeferred(start, step, isRepeat),
        );
        if (next === null) break;
        after = next;
        this.deferred -= taken;
        yield this.counted(written, this.connections.first);
      }
      if (this.deferred < waiting) step = 'wait';
      else if (step === 'wait') step = 'release';
      else yield await this.endCircles();
      waiting = this.deferred;
    }
  }

  /** All that wait now wait for somebody who waits too, so some of them wait for each other. */
  private async endCircles(): Promise<MergeOutcome> {
    const refused = await this.inTransaction(this.connections.first, () => this.connections.first.endCircles());
    this.deferred -= refused.length;
    return { created: 0, updated: 0, unchanged: 0, refused, deferred: [], warned: [] };
  }

  async countMissing(): Promise<number> {
    await this.connections.first.indexNames();
    return this.eachPage((after) => this.connections.first.countMissing(after));
  }

  async hideMissing(): Promise<number> {
    return this.eachPage((after) => this.connections.first.hideMissing(after));
  }

  private async eachPage(work: (after: string) => Promise<AssetPage>): Promise<number> {
    let found = 0;
    for (let after = '0'; ;) {
      const start = after;
      const page = await this.inTransaction(this.connections.first, () => work(start));
      found += page.found;
      if (page.last === null) return found;
      after = page.last;
    }
  }

  count(counts: ImportCounts): void {
    this.run?.count(counts);
  }

  async complete(result: RunResult): Promise<void> {
    const { run } = this;
    if (run) await this.connections.first.record(result.counts, () => run.end('COMPLETED', result));
  }

  async close(failure: RunFailure | null): Promise<void> {
    const completed = failure === null;
    try {
      if (completed && !this.settings.dryRun && this.written >= ANALYZE_FROM) await this.connections.first.analyze();
    } finally {
      await this.connections.close(completed, async () => {
        if (failure !== null) await this.run?.end(failure.outcome, failure.result);
      });
    }
  }

  /** Returns null while there is only one connection, which is always so when no second one is available. */
  private otherConnection(): StagingConnection | null {
    // The plan of a dry run and the names in the input are in the tables of one connection.
    if (this.settings.dryRun || this.remembersNames) return null;
    this.opening ??= this.connections.openSecond().then(
      (connection) => void (this.second = connection),
      () => undefined,
    );
    return this.latest === this.second ? this.connections.first : this.second;
  }

  /** Each batch is a transaction, repeated when necessary. */
  private async inTransaction<Result>(
    connection: StagingConnection,
    work: (isRepeat: boolean) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await connection.begin();
        const result = await work(attempt > 1);
        if (connection === this.connections.first) await this.run?.writeCounts();
        await connection.commit();
        this.tagKeys.commit();
        return result;
      } catch (error) {
        await connection.rollback();
        this.tagKeys.rollback();
        if (attempt > RETRIES || !isPassing(error)) throw error;
        await delay(50 * attempt * Math.random());
      }
    }
  }

  private async mergeOn(
    connection: StagingConnection,
    batch: ImportBatch,
    keptVisible: readonly string[],
  ): Promise<MergeOutcome> {
    const written = await this.inTransaction(connection, async (isRepeat) => {
      const refused = await this.stage(connection, batch);
      if (this.remembersNames && keptVisible.length > 0) await connection.recordNamed(keptVisible);
      if (isRepeat) refused.push(...(await this.hold(connection)));
      return connection.write(await connection.match(this.rekeys ? 'hold' : 'wait'), batch.size, refused);
    });
    return this.counted(written, connection);
  }

  /** Errors are ignored here: they recur, or are gone, when the batch is merged from its beginning. */
  private async mergeAhead(
    batch: ImportBatch,
    connection: StagingConnection,
    order: BatchOrder,
  ): Promise<MergeOutcome> {
    const [writing] = await Promise.allSettled([this.writeAhead(batch, connection, order)]);
    await order.before;
    if (writing.status === 'fulfilled') return this.counted(writing.value, connection);
    await connection.rollback();
    // No ids to spare: an import that remembers names uses one connection.
    return this.mergeOn(connection, batch, []);
  }

  private async writeAhead(
    batch: ImportBatch,
    connection: StagingConnection,
    order: BatchOrder,
  ): Promise<MergeOutcome> {
    await connection.begin();
    await connection.stage(batch.bytesWith([], this.tagKeys.known));
    await order.numbered;
    const matched = await connection.match();
    order.sayNumbered();
    // New and waiting records do not depend on the batch before, nor it on them: it has found its owners by now.
    if (matched.refused + matched.changed + matched.checked > 0) await order.before;
    const written = await connection.write(matched, batch.size, []);
    await connection.commit();
    return written;
  }

  /** Sends the batch to Postgres. Refuses records with unknown tag keys. */
  private async stage(connection: StagingConnection, batch: ImportBatch): Promise<Refusal[]> {
    const keys = batch.waiting.flatMap(({ record }) => record.tags.map(({ key }) => key));
    const known = await this.tagKeys.lookUp(connection.client, keys);
    const refused: Refusal[] = [];
    const accepted: NumberedRecord[] = [];
    for (const numbered of batch.waiting) {
      const unknown = numbered.record.tags.filter(({ key }) => !known.has(key));
      if (unknown.length === 0) accepted.push(numbered);
      else {
        const { place, kept } = numbered;
        refused.push({ place, ...unknownTagKeys(unknown.map(({ key }) => key)), kept });
        if (this.remembersNames) await connection.recordNamed([numbered.record.externalId]);
      }
    }
    await connection.stage(batch.bytesWith(accepted, known));
    if (this.remembersNames) await connection.recordStagedAsNamed();
    return refused;
  }

  /** A repeat locks what it refers to before it looks, so that it succeeds however many others delete at the same time. */
  private async hold(connection: StagingConnection): Promise<Refusal[]> {
    if (this.settings.dryRun) return [];
    const refused = await connection.holdStaged();
    await this.tagKeys.readAgain(connection.client);
    return refused;
  }

  private async mergeNextDeferred(
    after: string,
    step: Step,
    isRepeat: boolean,
  ): Promise<{ readonly written: MergeOutcome; readonly taken: number; readonly next: string | null }> {
    const connection = this.connections.first;
    if (step === 'release' && after === BEFORE_ALL) await connection.nameWaitingEmployees();
    const { last, taken, refused } = await connection.takeDeferred(after);
    if (isRepeat) refused.push(...(await this.hold(connection)));
    const [released, strict] = [step === 'release', this.settings.strict];
    if (released && strict) refused.push(...(await connection.refuseUnowned()));
    const warned = released && !strict ? await connection.unowned() : [];
    const written = await connection.write(await connection.match(step), taken, refused);
    return { written: { ...written, warned }, taken, next: last };
  }

  /** Counts what is committed. */
  private counted(written: MergeOutcome, connection: StagingConnection): MergeOutcome {
    this.deferred += written.deferred.length;
    if (connection === this.second) this.deferredOnSecond += written.deferred.length;
    this.written += written.created + written.updated;
    return written;
  }
}
