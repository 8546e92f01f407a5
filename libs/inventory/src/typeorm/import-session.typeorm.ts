import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkspaceId } from '#libs/kernel';
import type { PoolClient, QueryResult } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  ImportSession,
  type ImportSettings,
  type MergeOutcome,
  type NumberedRecord,
} from '../domain/import-store.port';
import { ImportBatch } from './import-batch';
import * as sql from './import-statements';
import type { ImportTagKeys } from './import-tag-keys';

type Refusal = MergeOutcome['refused'][number];
interface Matched {
  readonly refused: number;
  readonly waiting: number;
  readonly created: number;
  readonly changed: number;
  readonly retagged: number;
  readonly tagged: number;
  readonly computers: number;
  readonly checked: number;
}

const RETRIES = 3;
/** Deadlock and serialization failure: the whole batch is tried again. */
const PASSING = new Set(['40P01', '40001']);
const ANALYZE_FROM = 2_000;

export class ImportSessionTypeorm extends ImportSession {
  /** The one that is read, and the one that is merged meanwhile. */
  private batch = new ImportBatch();
  private other = new ImportBatch();
  private deferred = 0;
  private written = 0;

  constructor(
    private readonly client: PoolClient,
    private readonly workspaceId: WorkspaceId,
    private readonly settings: ImportSettings,
    private readonly tagKeys: ImportTagKeys,
    private readonly finish: (completed: boolean) => Promise<void>,
  ) {
    super();
  }

  add(numbered: NumberedRecord): void {
    this.batch.add(numbered, this.tagKeys.known);
  }

  async merge(): Promise<MergeOutcome> {
    const { batch } = this;
    this.batch = this.other;
    this.other = batch;
    const outcome = await this.inTransaction(async () => {
      const unknownTags = await this.stage(batch);
      if (this.deferred > 0) await this.supersedeDeferred();
      return this.mergeStaged('defer', batch.size, unknownTags);
    });
    batch.clear();
    return outcome;
  }

  async spare(externalIds: readonly string[]): Promise<void> {
    await this.client.query('INSERT INTO import_named SELECT unnest($1::text[])', [externalIds]);
  }

  async mergeDeferred(): Promise<MergeOutcome> {
    const total = { created: 0, updated: 0, unchanged: 0, refused: [] as Refusal[] };
    // An owner may itself have waited for its owner: passes go on as long as one brings something in.
    for (let waiting = this.deferred, last = false; this.deferred > 0;) {
      for (let after = '-1'; ;) {
        const start = after;
        const { outcome, next } = await this.inTransaction(() =>
          this.mergeNextDeferred(start, last ? 'refuse' : 'defer'),
        );
        if (next === null) break;
        after = next;
        total.created += outcome.created;
        total.updated += outcome.updated;
        total.unchanged += outcome.unchanged;
        total.refused.push(...outcome.refused);
      }
      last = this.deferred === waiting;
      waiting = this.deferred;
    }
    return total;
  }

  async hideMissing(): Promise<number> {
    await this.client.query('CREATE INDEX IF NOT EXISTS import_named_external_id ON import_named (external_id)');
    let hidden = 0;
    for (let after = '0'; ;) {
      const start = after;
      const batch = await this.inTransaction(async () => {
        const { rows } = await this.client.query<{ last: string | null; hidden: number }>(sql.HIDE_MISSING, [
          this.workspaceId,
          this.settings.source,
          start,
        ]);
        return rows[0] ?? { last: null, hidden: 0 };
      });
      hidden += batch.hidden;
      if (batch.last === null) return hidden;
      after = batch.last;
    }
  }

  async close(completed: boolean): Promise<void> {
    if (completed && !this.settings.dryRun && this.written >= ANALYZE_FROM) {
      await this.client.query('ANALYZE asset, asset_tag, computer, facet_count');
    }
    await this.finish(completed);
  }

  /** A dry run is one transaction from its start to its rollback; otherwise each batch is one, tried again when it must. */
  private async inTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.settings.dryRun) {
      await this.client.query(sql.beginBatch(this.workspaceId, ''));
      const result = await work();
      this.tagKeys.commit();
      return result;
    }
    for (let attempt = 1; ; attempt += 1) {
      const deferredBefore = this.deferred;
      try {
        await this.client.query(sql.beginBatch(this.workspaceId, 'BEGIN;'));
        const result = await work();
        await this.client.query('COMMIT');
        this.tagKeys.commit();
        return result;
      } catch (error) {
        await this.client.query('ROLLBACK').catch(() => undefined);
        this.tagKeys.rollback();
        this.deferred = deferredBefore;
        if (attempt > RETRIES || !PASSING.has(String((error as { code?: unknown }).code))) throw error;
        await delay(50 * attempt * Math.random());
      }
    }
  }

  /** Sends the batch to Postgres; refuses records with tag keys that do not exist. */
  private async stage(batch: ImportBatch): Promise<Refusal[]> {
    const { waiting } = batch;
    const known = await this.tagKeys.lookUp(waiting.flatMap(({ record }) => record.tags.map(({ key }) => key)));
    const refused: Refusal[] = [];
    const accepted: NumberedRecord[] = [];
    for (const numbered of waiting) {
      const unknown = numbered.record.tags.filter(({ key }) => !known.has(key));
      if (unknown.length === 0) accepted.push(numbered);
      else {
        const keys = unknown.map(({ key }) => JSON.stringify(key)).join(', ');
        refused.push({ place: numbered.place, reason: `tags: the key ${keys} does not exist in the workspace.` });
        if (this.settings.hideMissing) await this.spare([numbered.record.externalId]);
      }
    }
    await this.copy(batch.bytesWith(accepted, known));
    if (this.settings.hideMissing) await this.client.query(sql.NAME_STAGED);
    return refused;
  }

  private async copy(lines: Buffer): Promise<void> {
    const copying = this.client.query(copyFrom(sql.COPY_STAGED));
    copying.end(lines);
    await finished(copying);
  }

  private async supersedeDeferred(): Promise<void> {
    // Three statements in one round trip, of which the types of node-postgres do not know that each has its result.
    const results = (await this.client.query(sql.SUPERSEDE_DEFERRED)) as unknown as readonly QueryResult[];
    this.deferred -= results[1]?.rowCount ?? 0;
  }

  private async mergeNextDeferred(
    after: string,
    waiting: 'defer' | 'refuse',
  ): Promise<{ outcome: MergeOutcome; next: string | null }> {
    const { rows } = await this.client.query<{ last: string | null; taken: number }>(sql.TAKE_DEFERRED, [after]);
    const { last = null, taken = 0 } = rows[0] ?? {};
    this.deferred -= taken;
    const { rows: sameIds } = await this.client.query<{ place: string; reason: string }>(sql.REFUSE_SAME_IDS);
    return { outcome: await this.mergeStaged(waiting, taken, sameIds.map(toRefusal)), next: last };
  }

  /**
   * The staged batch into the inventory, of `total` records with those that are already refused. Rows are locked before
   * counters, as by every other writer.
   */
  private async mergeStaged(
    waiting: 'defer' | 'refuse',
    total: number,
    alreadyRefused: readonly Refusal[],
  ): Promise<MergeOutcome> {
    const { client, workspaceId } = this;
    const here = [workspaceId, this.settings.source];
    let matched = onlyRow(await client.query<Matched>(sql.MATCH, here));
    const refused = [...alreadyRefused];
    let deferred = 0;
    if (matched.refused + matched.waiting > 0) {
      refused.push(...(await this.refuse(sql.REFUSE)));
      if (waiting === 'refuse') refused.push(...(await this.refuse(sql.REFUSE_WAITING)));
      else deferred = (await client.query(sql.DEFER_WAITING)).rowCount ?? 0;
      this.deferred += deferred;
      matched = onlyRow(await client.query<Matched>(sql.COUNT_MATCHED));
    }
    const updated = new Set<string>();
    if (matched.changed > 0) await client.query(sql.LOCK_CHANGED, [workspaceId]);
    if (matched.changed + matched.created > 0) await client.query(sql.LOCK_COUNTERS, [workspaceId]);
    if (matched.changed > 0) {
      const { rows } = await client.query<{ id: string }>(sql.UPDATE_CHANGED, [workspaceId]);
      for (const { id } of rows) updated.add(id);
    }
    if (matched.created > 0) await client.query(sql.INSERT_NEW, here);
    if (matched.computers > 0) await client.query(sql.INSERT_COMPUTERS, [workspaceId]);
    if (matched.checked > 0) {
      const { rows } = await client.query<{ asset_id: string; was_there: boolean }>(sql.UPSERT_COMPUTERS, [
        workspaceId,
      ]);
      for (const { asset_id, was_there } of rows) if (was_there) updated.add(asset_id);
    }
    if (matched.retagged > 0) await client.query(sql.UNTAG_CHANGED, [workspaceId]);
    if (matched.retagged + matched.tagged > 0) await client.query(sql.TAG, [workspaceId]);
    this.written += matched.created + updated.size;
    const unchanged = total - refused.length - deferred - matched.created - updated.size;
    return { created: matched.created, updated: updated.size, unchanged, refused };
  }

  private async refuse(statement: string): Promise<Refusal[]> {
    const { rows } = await this.client.query<{ place: string; reason: string }>(statement);
    return rows.map(toRefusal);
  }
}

const onlyRow = <Row>({ rows }: { readonly rows: readonly Row[] }): Row => rows[0] as Row;

/** Postgres gives a bigint as text; a place is small enough for a number. */
function toRefusal({ place, reason }: { readonly place: string; readonly reason: string }): Refusal {
  return { place: Number(place), reason };
}
