import { finished, pipeline } from 'node:stream/promises';
import type { AuditAct, AuditRecorder } from '#libs/audit/operators';
import type { WorkspaceId } from '#libs/kernel';
import type { PoolClient } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import type { ImportCounts } from '../domain/import-report';
import type { MergeOutcome, Refusal, Warning } from '../domain/import-store.port';
import { ownerCircles } from '../domain/owner-circles';
import * as batch from './batch-statements';
import * as held from './hold-statements';
import { unknownTagKeys } from './import-tag-keys';
import * as matching from './match-statements';
import * as missing from './missing-statements';
import * as owners from './owner-statements';
import { RekeyedComputers } from './rekeyed-computers';
import * as waits from './waiting-statements';
import * as writing from './write-statements';

/** The work that a matched batch needs. */
export interface Matched {
  readonly refused: number;
  readonly waiting: number;
  readonly created: number;
  readonly changed: number;
  readonly retagged: number;
  readonly tagged: number;
  readonly checked: number;
  /** Existing assets that will be locked. */
  readonly to_lock: number;
}

/** Another transaction deleted a matched asset. Counts as a serialization failure: a repeat finds the asset missing. */
class MatchedAssetGone extends Error {
  readonly code = '40001';
}

/** One page of a source's assets. */
export interface AssetPage {
  /** The last id of the page. Null at the end. */
  readonly last: string | null;
  /** Assets of the page that the input did not name, or that were rekeyed. */
  readonly found: number;
}

/**
 * A connection of an import with its own staging tables. Each method is one step of the transaction that is open on it.
 */
export class StagingConnection {
  /** The change set of the batch under way. */
  private changeSetId = '0';
  private hasChanged = false;
  private readonly rekeyed: RekeyedComputers;

  constructor(
    readonly client: PoolClient,
    private readonly workspaceId: WorkspaceId,
    private readonly source: string,
    private readonly audit: AuditRecorder,
    /** True writes to the staging tables only, so that nobody waits for a dry run. */
    private readonly dryRun: boolean,
  ) {
    this.rekeyed = new RekeyedComputers(client, workspaceId, source, audit);
  }

  async begin(): Promise<void> {
    await this.client.query(batch.beginBatch(this.workspaceId));
    const drawn = await this.client.query<{ id: string }>(batch.DRAW_CHANGE_SET_ID);
    this.changeSetId = onlyRow(drawn).id;
    this.hasChanged = false;
  }

  /** Takes a ticket if anything changed that a feed tells of. */
  async commit(): Promise<void> {
    await this.client.query(this.hasChanged ? batch.commitChanges(this.workspaceId, this.changeSetId) : 'COMMIT');
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

  /** Remembers that the input names these assets. */
  async recordNamed(externalIds: readonly string[]): Promise<void> {
    await this.client.query(missing.NAME, [externalIds]);
  }

  /** Remembers that the input names the staged assets. */
  async recordStagedAsNamed(): Promise<void> {
    await this.client.query(missing.NAME_STAGED);
  }

  /** Remembers the employees that still wait for an owner, so that records go on waiting for them. */
  async nameWaitingEmployees(): Promise<void> {
    await this.client.query(waits.NAME_WAITING_EMPLOYEES);
  }

  /** Refuses the waiting employees who own themselves or each other. Those who do by e-mail address get no owner. */
  async endCircles(): Promise<Refusal[]> {
    const { rows } = await this.client.query<{ place: string; owner: string; by_email: boolean }>(
      waits.WAITING_FOR_EMPLOYEES,
    );
    const circles = ownerCircles(new Map(rows.map(({ place, owner }) => [Number(place), Number(owner)])));
    if (circles.length === 0) throw new Error('Records wait for owners who do not.');
    const byEmail = new Set(rows.filter(({ by_email }) => by_email).map(({ place }) => Number(place)));
    const forgotten = circles.filter((place) => byEmail.has(place));
    if (forgotten.length === 0) return this.refuse(waits.REFUSE_WAITING, [circles]);
    await this.client.query(waits.FORGET_ADDRESSES, [forgotten]);
    return [];
  }

  /** Takes the waiting records of another connection. That one is of no more use after a failure. */
  async moveDeferredFrom(other: StagingConnection): Promise<void> {
    const from = other.client.query(copyTo(waits.COPY_DEFERRED_OUT));
    await pipeline(from, this.client.query(copyFrom(waits.COPY_DEFERRED_IN)));
  }

  /** Stages waiting records after this place, except those whose id appears twice. `last` is null when none is left. */
  async takeDeferred(
    after: string,
  ): Promise<{ readonly last: string | null; readonly taken: number; readonly refused: Refusal[] }> {
    const { rows } = await this.client.query<{ last: string | null; taken: number }>(waits.TAKE_DEFERRED, [after]);
    const { last = null, taken = 0 } = rows[0] ?? {};
    return { last, taken, refused: await this.refuse(waits.REFUSE_SAME_IDS) };
  }

  /**
   * Locks the assets and the tag keys of the staged batch, so that nobody deletes them any more. Refuses records whose tag
   * keys are gone.
   */
  async holdStaged(): Promise<Refusal[]> {
    await this.client.query(held.LOCK_STAGED, [this.workspaceId, this.source]);
    await this.client.query(held.LOCK_TAG_KEYS, [this.workspaceId]);
    const { rows } = await this.client.query<{ place: string; keys: string[]; kept: string | null }>(
      held.REFUSE_LOST_TAG_KEYS,
      [this.workspaceId],
    );
    return rows.map(({ place, keys, kept }) => ({ place: Number(place), ...unknownTagKeys(keys), kept }));
  }

  /** Compares the staged batch with the inventory. Changes and locks nothing there. */
  async match(step: keyof typeof matching.MATCH = 'wait'): Promise<Matched> {
    const statement = (this.dryRun ? matching.MATCH_PLANNED : matching.MATCH)[step];
    return onlyRow(await this.client.query<Matched>(statement, [this.workspaceId, this.source]));
  }

  /** Returns a warning for each staged record whose owner is not there and will not come. */
  async unowned(): Promise<Warning[]> {
    const statement = this.dryRun ? owners.UNOWNED_PLANNED : owners.UNOWNED;
    const { rows } = await this.client.query<{ place: string; reason: string }>(statement, [
      this.workspaceId,
      this.source,
    ]);
    return rows.map(({ place, reason }) => ({ place: Number(place), reason }));
  }

  /** Refuses these records. */
  async refuseUnowned(): Promise<Refusal[]> {
    return this.refuse(this.dryRun ? owners.REFUSE_UNOWNED_PLANNED : owners.REFUSE_UNOWNED, [
      this.workspaceId,
      this.source,
    ]);
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
      left = onlyRow(await this.client.query<Matched>(matching.COUNT_MATCHED));
    }
    const updated = this.dryRun ? await this.plan() : await this.writeMatched(left);
    const { created } = left;
    return {
      created,
      updated,
      unchanged: total - refused.length - deferred.length - created - updated,
      refused,
      deferred,
      warned: [],
    };
  }

  private async plan(): Promise<number> {
    return onlyRow(await this.client.query<{ updated: number }>(writing.PLAN, [this.workspaceId])).updated;
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
      for (const { id, is_change } of rows) {
        updated.add(id);
        this.hasChanged ||= is_change;
      }
    }
    if (created > 0) await client.query(writing.INSERT_NEW, [workspaceId, this.source, changeSetId]);
    if (checked > 0) {
      await client.query(writing.TELL_COMPUTERS, [workspaceId, changeSetId]);
      const { rows } = await client.query<{ asset_id: string; was_there: boolean }>(writing.UPSERT_COMPUTERS, [
        workspaceId,
      ]);
      for (const { asset_id, was_there } of rows) if (was_there) updated.add(asset_id);
      this.hasChanged ||= rows.length > 0;
    }
    this.hasChanged ||= created > 0;
    if (retagged > 0) await client.query(writing.UNTAG_CHANGED, [workspaceId]);
    if (retagged + tagged > 0) await client.query(writing.TAG, [workspaceId]);
    return updated.size;
  }

  /** Finds computers that were enrolled again. */
  async findRekeyed(): Promise<number> {
    return this.rekeyed.find();
  }

  /** Gives the next of them after this id their new externalId. */
  async rekey(after: string): Promise<AssetPage> {
    const { last, rekeyed } = await this.rekeyed.rekey(after, this.changeSetId);
    this.hasChanged ||= rekeyed.length > 0;
    return { last, found: rekeyed.length };
  }

  /** Counts the next assets of the source after this id that were not named. */
  async countMissing(after: string): Promise<AssetPage> {
    return onlyRow(await this.client.query<AssetPage>(missing.COUNT_MISSING, [this.workspaceId, this.source, after]));
  }

  /** Hides them. */
  async hideMissing(after: string): Promise<AssetPage> {
    const values = [this.workspaceId, this.source, after, this.changeSetId];
    const page = onlyRow(await this.client.query<AssetPage>(missing.HIDE_MISSING, values));
    this.hasChanged ||= page.found > 0;
    return page;
  }

  /** Records the completed import in a transaction of its own, together with `endRun`. */
  async record(
    { created, updated, unchanged, hidden, failed }: ImportCounts,
    endRun: () => Promise<void>,
  ): Promise<void> {
    const counts = Object.entries({ created, updated, unchanged, hidden, failed });
    const act: AuditAct = {
      action: 'import.completed',
      actor: { type: 'IMPORT' },
      target: { type: 'IMPORT', id: this.source },
      changes: Object.fromEntries(counts.map(([field, count]) => [field, { old: null, new: count }])),
    };
    await this.client.query(batch.beginIn(this.workspaceId));
    try {
      await this.audit.record(this.workspaceId, act, (text, values) => this.client.query(text, values));
      await endRun();
      await this.client.query('COMMIT');
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async indexNames(): Promise<void> {
    await this.client.query(missing.INDEX_NAMES);
  }

  async analyze(): Promise<void> {
    await this.client.query('ANALYZE asset, asset_tag, computer, facet_count');
  }

  private async refuse(statement: string, values: unknown[] = []): Promise<Refusal[]> {
    const { rows } = await this.client.query<{ place: string; reason: string; kept: string | null }>(statement, values);
    // Postgres returns a bigint as text. A place fits into a number.
    return rows.map(({ place, ...refusal }) => ({ place: Number(place), ...refusal }));
  }
}

const onlyRow = <Row>({ rows }: { readonly rows: readonly Row[] }): Row => rows[0] as Row;
