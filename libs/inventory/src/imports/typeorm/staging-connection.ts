import { finished } from 'node:stream/promises';
import type { AuditAct, AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { MergeOutcome, Refusal } from '../domain/import-store.port';
import * as batch from './batch-statements';
import * as held from './hold-statements';
import * as matching from './match-statements';
import type { Matched } from './match-statements';
import * as missing from './missing-statements';
import { unknownTagKeys } from './tag-faults';
import * as waits from './waiting-statements';
import * as writing from './write-statements';

/** A step decides what happens to records that wait: see {@link matching.MATCH}. */
export type Step = keyof (typeof matching.MATCH)['real'];

interface RefusedRow {
  readonly place: string;
  readonly kept: string | null;
  /** Absent where the statement only finds records. */
  readonly serial_number?: string | null;
}

/** One page of a source's assets. */
export interface AssetPage {
  /** The last id of the page. Null at the end. */
  readonly last: string | null;
  /** Assets of the page that the input did not name, or that were rekeyed. */
  readonly found: number;
}

/** Another transaction deleted a matched asset. Counts as a serialization failure: a repeat finds the asset missing. */
class MatchedAssetGone extends Error {
  readonly code = '40001';
}

/** A connection of an import with its own staging tables. Each method is one step of the batch that is open on it. */
export class StagingConnection {
  /** The change set of the batch under way. */
  changeSetId = '0';
  /** Serial numbers of the records that this batch refused. */
  refusedSerials: string[] = [];
  private hasChanged = false;

  constructor(
    readonly client: PoolClient,
    readonly workspaceId: WorkspaceId,
    readonly source: string,
    /** True writes to the staging tables only, so that nobody waits for a dry run. */
    readonly dryRun: boolean,
    readonly audit: AuditRecorder,
  ) {}

  /** Another connection of the same import. */
  beside(client: PoolClient): StagingConnection {
    return new StagingConnection(client, this.workspaceId, this.source, this.dryRun, this.audit);
  }

  async begin(): Promise<void> {
    await this.client.query(batch.beginBatch(this.workspaceId));
    this.changeSetId = (await this.row<{ id: string }>(batch.DRAW_CHANGE_SET_ID)).id;
    this.hasChanged = false;
    this.refusedSerials = [];
  }

  /** Notes whether a step changed something that a feed tells of. */
  noteChange(isChange: boolean): void {
    this.hasChanged ||= isChange;
  }

  /** Takes a ticket if anything changed. */
  async commit(): Promise<void> {
    const { workspaceId, changeSetId, audit } = this;
    await this.client.query(this.hasChanged ? batch.commitChanges(workspaceId, changeSetId, audit.who) : 'COMMIT');
  }

  async rollback(): Promise<void> {
    await this.client.query('ROLLBACK').catch(() => undefined);
  }

  /** Sends COPY lines to Postgres. */
  async stage(lines: Buffer): Promise<void> {
    const copying = this.client.query(copyFrom(batch.COPY_STAGED));
    copying.end(lines);
    await finished(copying);
  }

  /**
   * Locks the assets and the tag keys of the staged batch, so that nobody deletes them any more. Refuses records whose tag
   * keys are gone.
   */
  async holdStaged(): Promise<Refusal[]> {
    await this.client.query(held.LOCK_STAGED, [this.workspaceId, this.source]);
    await this.client.query(held.LOCK_TAG_KEYS, [this.workspaceId]);
    const { rows } = await this.client.query<RefusedRow & { keys: string[] }>(held.REFUSE_LOST_TAG_KEYS, [
      this.workspaceId,
    ]);
    this.noteSerials(rows);
    return rows.map(({ place, keys, kept }) => ({ place: Number(place), ...unknownTagKeys(keys), kept }));
  }

  /** Compares the staged batch with the inventory. Changes and locks nothing there. */
  async match(step: Step = 'wait'): Promise<Matched> {
    const { [step]: statement } = matching.MATCH[this.dryRun ? 'planned' : 'real'];
    return this.row<Matched>(statement, [this.workspaceId, this.source]);
  }

  /**
   * Writes the matched batch into the inventory. `total` counts its records with those already refused. A dry run only
   * counts.
   */
  async write(matched: Matched, total: number, alreadyRefused: readonly Refusal[]): Promise<MergeOutcome> {
    const refused = [...alreadyRefused];
    let left = matched;
    let deferred: number[] = [];
    if (matched.refused + matched.waiting > 0) {
      refused.push(...(await this.refuse(matching.REFUSE)));
      const { rows } = await this.client.query<{ place: string }>(waits.DEFER_WAITING);
      deferred = rows.map(({ place }) => Number(place));
      left = await this.row<Matched>(matching.COUNT_MATCHED);
    }
    const { created } = left;
    const { updated } = this.dryRun
      ? await this.row<{ updated: number }>(writing.PLAN, [this.workspaceId])
      : { updated: await this.writeMatched(left) };
    const unchanged = total - refused.length - deferred.length - created - updated;
    return { created, updated, unchanged, refused, deferred, warned: [] };
  }

  /** Returns how many assets were updated. Locks rows before counters, like every other writer. */
  private async writeMatched({ created, changed, retagged, tagged, checked, to_lock }: Matched): Promise<number> {
    const { client, workspaceId, changeSetId } = this;
    const updated = new Set<string>();
    if (to_lock > 0) {
      const { rowCount } = await client.query(writing.LOCK_CHANGED, [workspaceId]);
      if (rowCount !== to_lock) throw new MatchedAssetGone('Another transaction deleted an asset of the batch.');
    }
    if (changed > 0) {
      // Locks the counters for this statement and the next, each of which takes them in the same order.
      await client.query(writing.LOCK_COUNTERS, [workspaceId]);
      const values = [workspaceId, changeSetId];
      const { rows } = await client.query<{ id: string; is_change: boolean }>(writing.UPDATE_CHANGED, values);
      for (const { id } of rows) updated.add(id);
      this.noteChange(rows.some(({ is_change }) => is_change));
    }
    if (created > 0) await client.query(writing.INSERT_NEW, [workspaceId, this.source, changeSetId]);
    if (checked > 0) {
      const told = await client.query<{ is_change: boolean }>(writing.TELL_COMPUTERS, [workspaceId, changeSetId]);
      this.noteChange(told.rows.some(({ is_change }) => is_change));
      const { rows } = await client.query<{ asset_id: string; was_there: boolean }>(writing.UPSERT_COMPUTERS, [
        workspaceId,
      ]);
      for (const { asset_id, was_there } of rows) if (was_there) updated.add(asset_id);
    }
    this.noteChange(created > 0);
    if (retagged > 0) await client.query(writing.UNTAG_CHANGED, [workspaceId]);
    if (retagged + tagged > 0) await client.query(writing.TAG, [workspaceId]);
    return updated.size;
  }

  /** Remembers that the input names the staged batch, and these. */
  async name(externalIds: readonly string[]): Promise<void> {
    await this.client.query(missing.NAME_STAGED, [externalIds]);
  }

  /** Counts the next assets after this id that the input does not name. */
  async countMissing(after: string): Promise<AssetPage> {
    return this.row<AssetPage>(missing.COUNT_MISSING, [this.workspaceId, this.source, after]);
  }

  /** Hides them. */
  async hideMissing(after: string): Promise<AssetPage> {
    const values = [this.workspaceId, this.source, after, this.changeSetId];
    const page = await this.row<AssetPage>(missing.HIDE_MISSING, values);
    this.noteChange(page.found > 0);
    return page;
  }

  /** Does without a table that a migration or a vacuum holds. */
  async analyze(): Promise<void> {
    await this.client.query('ANALYZE (SKIP_LOCKED) asset, asset_tag, computer, facet_count');
  }

  /** Records an act of the import in its audit. */
  async record(act: Omit<AuditAct, 'actor'>): Promise<void> {
    const imported: AuditAct = { ...act, actor: { type: 'IMPORT' } };
    await this.audit.record(this.workspaceId, imported, (text, values) => this.client.query(text, values));
  }

  /** Runs a statement that returns one row. */
  async row<Row extends object>(statement: string, values: unknown[] = []): Promise<Row> {
    return (await this.client.query<Row>(statement, values)).rows[0] as Row;
  }

  /** Runs a statement that names records and what is wrong with them. */
  async refuse(statement: string, values: unknown[] = []): Promise<Refusal[]> {
    const { rows } = await this.client.query<RefusedRow & { reason: string }>(statement, values);
    this.noteSerials(rows);
    // Postgres returns a bigint as text. A place fits into a number.
    return rows.map(({ place, serial_number: _, ...refusal }) => ({ place: Number(place), ...refusal }));
  }

  private noteSerials(rows: readonly RefusedRow[]): void {
    for (const { serial_number: serial } of rows) if (serial) this.refusedSerials.push(serial);
  }
}
