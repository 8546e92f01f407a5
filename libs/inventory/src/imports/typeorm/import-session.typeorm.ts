import { setTimeout as delay } from 'node:timers/promises';
import {
  ImportSession,
  type ImportSettings,
  type MergeOutcome,
  type NumberedRecord,
  type Refusal,
  type RefusedAsset,
} from '../domain/import-store.port';
import type { ImportCounts } from '../domain/import-report';
import type { RunOutcome, RunResult } from '../domain/recorded-run';
import { ImportBatch } from './import-batch';
import { type ImportTagKeys, MOST_TAG_KEYS } from './import-tag-keys';
import { INDEX_NAMES, type SourceBefore } from './missing-statements';
import { RekeyedComputers } from './rekeyed-computers';
import { type RunRecord, WorkspaceDeleted } from './run-record';
import type { AssetPage, StagingConnection } from './staging-connection';
import { type BatchOrder, type StagingConnections, isPassing } from './staging-connections';
import { lostTagValues, unknownTagKeys } from './tag-faults';
import { NOTHING_WRITTEN, WaitingRecords } from './waiting-records';

const RETRIES = 3;
const ANALYZE_FROM = 2_000;

/**
 * Postgres does most of the work, and a connection uses one of its cores. So two batches run at the same time on two
 * connections when their order is irrelevant. Otherwise they run one after the other. Records that wait for their owners
 * stay on the connection that read them until the end.
 */
export class ImportSessionTypeorm extends ImportSession {
  readonly visibleBefore: number;
  readonly newSource: boolean;
  private readonly first: StagingConnection;
  private readonly waiting: WaitingRecords;
  private readonly rekeyed: RekeyedComputers;
  /** A source without visible assets has none to rekey. */
  private readonly rekeys: boolean;
  private readonly remembersNames: boolean;
  private reading = new ImportBatch();
  private readonly emptied: ImportBatch[] = [];
  /** The previous batch, its connection, and its ids: new assets are listed in the order of the lines. */
  private before: Promise<unknown> = Promise.resolve();
  private latest: StagingConnection;
  private numbered: Promise<unknown> = Promise.resolve();
  private opening: Promise<void> | null = null;
  private written = 0;

  constructor(
    private readonly connections: StagingConnections,
    private readonly settings: ImportSettings,
    private readonly tagKeys: ImportTagKeys,
    { visible, isNew }: SourceBefore,
    /** Null for a dry run. */
    private readonly run: RunRecord | null,
  ) {
    super();
    this.first = this.latest = connections.first;
    const isStrict = settings.strict === true;
    this.rekeyed = new RekeyedComputers(this.first, isStrict);
    this.waiting = new WaitingRecords(
      this.first,
      isStrict,
      (work) => this.inTransaction(this.first, work),
      () => this.hold(this.first),
    );
    this.visibleBefore = visible;
    this.newSource = isNew;
    this.rekeys = settings.rekeyBy === 'serialNumber' && visible > 0;
    this.remembersNames = settings.missing === 'hide' || this.rekeys;
  }

  warningOf({ tags }: NumberedRecord['record']): string | null {
    return tags.length === 0 ? null : lostTagValues(tags, this.tagKeys.known);
  }

  add(numbered: NumberedRecord): void {
    this.reading.add(numbered, this.tagKeys.known);
  }

  async merge(mayOverlap: boolean, bad: readonly RefusedAsset[]): Promise<MergeOutcome> {
    const { reading: batch, before, numbered } = this;
    this.reading = this.emptied.pop() ?? new ImportBatch();
    const other = mayOverlap && batch.waiting.length === 0 ? this.otherConnection() : null;
    this.latest = other ?? this.first;
    let sayNumbered = (): void => undefined;
    this.numbered = new Promise<void>((resolve) => (sayNumbered = resolve));
    const merged = other
      ? this.mergeAhead(batch, other, { before, numbered, sayNumbered })
      : before.then(() => this.mergeOn(this.first, batch, bad));
    merged.then(sayNumbered, sayNumbered);
    this.before = merged;
    const outcome = await merged;
    batch.clear();
    this.emptied.push(batch);
    return outcome;
  }

  async *rekey(): AsyncIterable<number> {
    if (!this.rekeys) return;
    await this.first.client.query(INDEX_NAMES);
    const found = await this.inTransaction(this.first, () => this.rekeyed.find());
    if (this.settings.dryRun) yield found;
    else yield* this.eachPage((after) => this.rekeyed.rekey(after));
  }

  async *refuseToRekey(reason: string): AsyncIterable<MergeOutcome> {
    if (!this.rekeys) return;
    await this.first.client.query(INDEX_NAMES);
    await this.inTransaction(this.first, () => this.rekeyed.findLikely());
    for (;;) {
      const refused = await this.inTransaction(this.first, () => this.rekeyed.refuseNext(reason));
      if (refused.length === 0) return;
      this.waiting.add(-refused.length, false);
      yield { ...NOTHING_WRITTEN, refused };
    }
  }

  async *mergeDeferred(which: 'employees' | 'all'): AsyncIterable<MergeOutcome> {
    if (which === 'employees' && !this.rekeys) return;
    for await (const outcome of this.waiting.merge(this.connections.second, which)) {
      this.written += outcome.created + outcome.updated;
      yield outcome;
    }
  }

  async *countMissing(): AsyncIterable<number> {
    await this.first.client.query(INDEX_NAMES);
    yield* this.eachPage((after) => this.first.countMissing(after));
  }

  hideMissing(): AsyncIterable<number> {
    return this.eachPage((after) => this.first.hideMissing(after));
  }

  private async *eachPage(work: (after: string) => Promise<AssetPage>): AsyncGenerator<number> {
    for (let after = '0'; ;) {
      const start = after;
      const page = await this.inTransaction(this.first, () => work(start));
      if (page.last === null) return;
      yield page.found;
      after = page.last;
    }
  }

  count(counts: ImportCounts): void {
    this.run?.count(counts);
  }

  async end(outcome: Exclude<RunOutcome, 'RUNNING'>, result: RunResult): Promise<void> {
    const isCompleted = outcome === 'COMPLETED';
    if (!isCompleted) await this.first.rollback();
    await this.run?.end(outcome, result).catch((error: unknown) => {
      if (isCompleted || error instanceof WorkspaceDeleted) throw error;
    });
    // After a completed import the loss of a connection does not matter.
    // The role of the console owns no table, so Postgres would refuse to make its statistics.
    const { dryRun, person } = this.settings;
    if (isCompleted && !person && !dryRun && this.written >= ANALYZE_FROM)
      await this.first.analyze().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.connections.close();
  }

  /** Returns null while there is only one connection, which is always so when no second one is available. */
  private otherConnection(): StagingConnection | null {
    // The plan of a dry run and the names in the input are in the tables of one connection.
    if (this.settings.dryRun || this.remembersNames) return null;
    this.opening ??= this.connections.openSecond().catch(() => undefined);
    const { second } = this.connections;
    return this.latest === second ? this.first : second;
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
        if (this.rekeys) await this.rekeyed.name(connection.refusedSerials);
        await this.commit(connection);
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
    bad: readonly RefusedAsset[],
  ): Promise<MergeOutcome> {
    const written = await this.inTransaction(connection, async (isRepeat) => {
      const refused = await this.stage(connection, batch, bad);
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
    await this.commit(connection);
    return written;
  }

  /** With the counts so far: the first connection writes the record. */
  private async commit(connection: StagingConnection): Promise<void> {
    if (connection === this.first) await this.run?.writeCounts();
    await connection.commit();
  }

  /** Sends the batch to Postgres. Refuses records with unknown tag keys. */
  private async stage(
    connection: StagingConnection,
    batch: ImportBatch,
    bad: readonly RefusedAsset[],
  ): Promise<Refusal[]> {
    const keys = batch.waiting.flatMap(({ record }) => record.tags.map(({ key }) => key));
    const known = await this.tagKeys.lookUp(connection, keys);
    const refused: Refusal[] = [];
    const accepted: NumberedRecord[] = [];
    const named = [...bad];
    const mostTagKeys = this.settings.createTagKeys === null ? null : MOST_TAG_KEYS;
    for (const numbered of batch.waiting) {
      const { place, record, kept } = numbered;
      const unknown = record.tags.map(({ key }) => key).filter((key) => !known.has(key));
      if (unknown.length === 0) accepted.push(numbered);
      else {
        refused.push({ place, ...unknownTagKeys(unknown, mostTagKeys), kept });
        named.push(record);
      }
    }
    await connection.stage(batch.bytesWith(accepted, known));
    if (this.remembersNames) await connection.name(named.map(({ externalId }) => externalId));
    if (this.rekeys) await this.rekeyed.name(named.map(({ serialNumber }) => serialNumber));
    return refused;
  }

  /** A repeat locks what it refers to before it looks, so that it succeeds however many others delete at the same time. */
  private async hold(connection: StagingConnection): Promise<Refusal[]> {
    if (this.settings.dryRun) return [];
    const refused = await connection.holdStaged();
    await this.tagKeys.read(connection);
    return refused;
  }

  /** Counts what is committed. */
  private counted(written: MergeOutcome, connection: StagingConnection): MergeOutcome {
    this.waiting.add(written.deferred.length, connection === this.connections.second);
    this.written += written.created + written.updated;
    return written;
  }
}
