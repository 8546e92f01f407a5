import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { type ImportsService, RemovedAssets } from '#libs/inventory/operators';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { TagKeyRepositoryTypeorm } from '../../libs/inventory/src/tag-keys/typeorm/tag-key-repository.typeorm';
import { anAuditRecorder } from '../support/audit-recorder';
import { operatorDataSource } from '../support/database-connection';
import { importsOn } from '../support/imports';
import type { FaultSetting } from './fault-setting';
import { type Act, type Commit, type Imported, type Patch, importedOf } from './history-model';
import { keyHashOf } from './operation-log';

export const KEYS = ['env', 'team', 'tier'];
const DELETED_KEYS = KEYS.slice(1);
const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];
const CHECKS = [true, false, null];
const MOST_BULK = 20;

/** A number from 0 to below `below`. */
export type Random = (below: number) => number;

/** The same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Writes at random in all ways at once, and records what was acknowledged. */
export class HistoryWriters {
  done = 0;
  lost = 0;
  /** Assets that were ever purged. */
  readonly purged = new Set<string>();
  private readonly patches = new Map<string, Extract<Act, { kind: 'patch' }>>();
  /** Keys of updates whose success the client saw. */
  private readonly acknowledged = new Set<string>();
  /** Of the one importer, in their order. */
  private readonly imported: Extract<Act, { kind: 'import' | 'purge' }>[] = [];
  private readonly untagged: { readonly key: string; readonly from: number; readonly until: number }[] = [];
  private readonly records = new Map<string, Imported>();
  private readonly all: readonly Imported[];
  private readonly here: WorkspaceId;
  private readonly imports: ImportsService;
  private readonly tagKeys: TagKeyRepositoryTypeorm;
  private readonly removed: RemovedAssets;

  private constructor(
    private readonly setting: FaultSetting,
    private readonly dataSource: DataSource,
    private readonly random: Random,
    counts: { readonly employees: number; readonly others: number },
  ) {
    this.here = workspaceId(setting.workspace);
    const database = new Database(dataSource);
    this.imports = importsOn(dataSource);
    this.tagKeys = new TagKeyRepositoryTypeorm(database, anAuditRecorder());
    this.removed = new RemovedAssets(database);
    const imported = (categoryKey: Imported['categoryKey']): Imported =>
      this.changed({
        ...{ id: randomUUID(), categoryKey, isVisible: true, name: '', isMonitored: false },
        email: null,
        checks: [],
      });
    this.all = [
      ...Array.from({ length: counts.employees }, () => imported('EMPLOYEE')),
      ...Array.from({ length: counts.others }, (_, n) => imported(n % 3 === 0 ? 'COMPUTER' : 'CUSTOM')),
    ];
  }

  /** Imports the assets for the first time. */
  static async begin(
    setting: FaultSetting,
    random: Random,
    counts: { readonly employees: number; readonly others: number },
  ): Promise<HistoryWriters> {
    const dataSource = await operatorDataSource(setting.databases, 8);
    const writers = new HistoryWriters(setting, dataSource, random, counts);
    for (const key of KEYS) await writers.tagKeys.create(writers.here, { key, value: null, platform: false });
    await writers.import(writers.all);
    return writers;
  }

  get ids(): string[] {
    return this.all.map(({ id }) => id);
  }

  /** Eight writers until so many acts are done. */
  async write(acts: number): Promise<void> {
    const until = (act: () => Promise<void>) => async (): Promise<void> => {
      while (this.done < acts) {
        await act();
        this.done += 1;
      }
    };
    const updaters = Array.from({ length: 6 }, (_, place) => until(() => this.update(place)));
    await Promise.all([...updaters, until(() => this.importSome()), until(() => this.deleteKey())].map((one) => one()));
  }

  /**
   * All acts in the order of their change sets, and what is missing there. An update of many leaves out assets that were
   * hidden when it looked, and the audit says which it found.
   */
  async commits(): Promise<{ readonly commits: Commit[]; readonly faults: string[] }> {
    const faults: string[] = [];
    const { rows } = await this.setting.admin.query<{
      time: string;
      origin: number;
      hash: string | null;
      ids: string[];
    }>(
      `SELECT (extract(epoch FROM changed_at) * 1000)::bigint AS time, origin,
              (SELECT min(key_hash) FROM audit_event AS event
                WHERE event.workspace_id = $1 AND event.request_id = change_set.request_id) AS hash,
              ARRAY(SELECT asset_id::text FROM audit_event AS event
                     WHERE event.workspace_id = $1 AND event.request_id = change_set.request_id) ||
              ARRAY(SELECT public_id::text FROM asset WHERE workspace_id = $1 AND origin = 3 AND (change_id = change_set.id
                       OR id IN (SELECT id FROM asset_version WHERE workspace_id = $1 AND change_id = change_set.id)))
                AS ids
         FROM change_set WHERE workspace_id = $1 ORDER BY sequence`,
      [this.here],
    );
    const imports = [...this.imported];
    const byHash = new Map([...this.patches].map(([key, act]) => [keyHashOf(key), { key, act }]));
    const seen = new Set<string>();
    const commits: Commit[] = [];
    for (const { time, origin, hash, ids } of rows) {
      const changedAt = Number(time);
      const commit = (act: Act | undefined): void => {
        if (act) commits.push({ changedAt, act });
        else faults.push(`a change set of ${origin} at ${changedAt} that nobody made`);
      };
      if (origin === 1) {
        const found = byHash.get(hash ?? '');
        if (found) seen.add(found.key);
        commit(found && { ...found.act, ids });
      } else if (origin === 2) {
        while (imports[0]?.kind === 'purge') commit(imports.shift());
        commit(imports.shift());
      } else {
        const found = this.untagged.find(({ from, until }) => from <= changedAt && changedAt <= until);
        commit(found && { kind: 'untag', key: found.key, ids });
      }
    }
    const end = commits.at(-1)?.changedAt ?? 0;
    for (const act of imports) {
      if (act.kind === 'purge') commits.push({ changedAt: end, act });
      else faults.push('an import that made no change set');
    }
    const unseen = [...this.acknowledged].filter((key) => !seen.has(key));
    return { commits, faults: [...faults, ...unseen.map((key) => `${key} was acknowledged and made no change set`)] };
  }

  async end(): Promise<void> {
    await this.dataSource.destroy();
  }

  private async update(place: number): Promise<void> {
    const patch: Patch = {
      description: randomUUID(),
      ...(this.chance(3) ? { classification: this.one(CLASSIFICATIONS.slice(1)) } : {}),
      ...(this.chance(3) ? { ownerId: this.one(this.employees).id } : {}),
      ...(this.chance(3) ? { tags: KEYS.filter(() => this.chance(2)) } : {}),
    };
    const others = this.all.filter(({ categoryKey }) => categoryKey !== 'EMPLOYEE');
    const isBulk = this.chance(6);
    const count = isBulk ? 1 + this.random(MOST_BULK) : 1;
    const ids = [...new Set(Array.from({ length: count }, () => this.one(others).id))];
    const sent = { ...patch, ...(patch.tags ? { tags: patch.tags.map((key) => ({ key })) } : {}) };
    const key = randomUUID();
    const path = `/v1/inventory/assets${isBulk ? '' : `/${ids[0]}`}`;
    const bulk = patch.tags ? { updates: ids.map((id) => ({ id, patch: sent })) } : { ids, patch: sent };
    const operation = { key, assets: ids, path, body: isBulk ? bulk : sent };
    this.patches.set(key, { kind: 'patch', ids, patch, response: null });
    const client = this.setting.client();
    // Some clients give up. Then either outcome is right.
    const gaveUp = this.chance(10);
    const response = gaveUp
      ? await client.attempt(operation, this.setting.origins[place % 2] as string)
      : await client.settle(operation, place);
    if (response.kind === 'lost' || response.status === 503) {
      this.lost += 1;
      return;
    }
    if (response.status === 200) {
      const body = JSON.parse(response.text) as { readonly successfulUpdates?: number };
      if (!isBulk) this.patches.set(key, { kind: 'patch', ids, patch, response: response.text });
      if (body.successfulUpdates !== 0) this.acknowledged.add(key);
    } else if (![400, 404].includes(response.status)) throw new Error(response.text);
  }

  private async importSome(): Promise<void> {
    const turn = this.random(10);
    const visible = this.all.filter(({ id }) => this.records.get(id)?.isVisible);
    if (turn === 0) return this.purge();
    if (turn === 1) return this.hideMissing(visible);
    const some = this.all.filter(() => this.chance(10));
    if (turn === 2) return this.import(some.flatMap(({ id }) => this.records.get(id) ?? []));
    await this.import(
      some.map((first) => {
        const record = this.records.get(first.id) ?? first;
        if (!record.isVisible) return this.changed({ ...record, isVisible: true });
        if (this.chance(4)) return record;
        // A hidden record of an asset that is not there makes none.
        return this.chance(4) && this.records.has(record.id)
          ? { ...record, isVisible: false }
          : this.changed({ ...record, isVisible: true });
      }),
    );
    await delay(this.random(20));
  }

  /** An interrupted import is repeated. It has one batch, and so at most one change set. */
  private async import(records: readonly Imported[], missing: 'keep' | 'hide' = 'keep'): Promise<void> {
    const checkedAt = new Date().toISOString();
    await this.untilDone(async () => {
      const lines = records.map((record, n) => ({ fileIndex: 0, line: n + 1, value: this.line(record, checkedAt) }));
      const options = { ...{ source: 'test', files: [], dryRun: false, missing, createTagKeys: null } } as const;
      const hideAtMost = { assets: this.all.length };
      const report = await this.imports.runLines(this.here, { ...options, hideAtMost }, lines);
      if (report.failed > 0) throw new Error(JSON.stringify(report.errors));
    });
    const hidden =
      missing === 'keep'
        ? []
        : [...this.records.values()].filter(({ id, isVisible }) => isVisible && !records.some((one) => one.id === id));
    const now = [...records, ...hidden.map((record) => ({ ...record, isVisible: false }))];
    const isSame = (record: Imported): boolean =>
      JSON.stringify(importedOf(record)) === JSON.stringify(this.records.get(record.id) ?? null);
    if (!now.every(isSame)) this.imported.push({ kind: 'import', records: now, checkedAt });
    for (const record of now) this.records.set(record.id, importedOf(record));
  }

  /** Names all that are visible but some, which are hidden in a transaction of their own. */
  private async hideMissing(visible: readonly Imported[]): Promise<void> {
    const named = visible.filter(({ categoryKey }) => categoryKey === 'EMPLOYEE' || !this.chance(20));
    await this.import(
      named.flatMap(({ id }) => this.records.get(id) ?? []),
      'hide',
    );
  }

  private async purge(): Promise<void> {
    const { here, setting } = this;
    await this.untilDone(() => this.removed.purge(here, new Date('2999-01-01'), () => undefined));
    // Employees who own something stay.
    const hidden = [...this.records.values()].filter(({ isVisible }) => !isVisible).map(({ id }) => id);
    const text = 'SELECT public_id AS id FROM asset WHERE workspace_id = $1 AND public_id = ANY ($2)';
    const { rows: left } = await this.untilDone(() => setting.admin.query<{ id: string }>(text, [here, hidden]));
    const ids = hidden.filter((id) => !left.some((row) => row.id === id));
    if (ids.length === 0) return;
    this.imported.push({ kind: 'purge', ids });
    for (const id of ids) {
      this.records.delete(id);
      this.purged.add(id);
    }
  }

  private async deleteKey(): Promise<void> {
    const key = this.one(DELETED_KEYS);
    await delay(5 + this.random(200));
    const from = Date.now();
    await this.untilDone(() => this.tagKeys.delete(this.here, key));
    this.untagged.push({ key, from, until: Date.now() });
    await delay(this.random(30));
    await this.untilDone(() => this.tagKeys.create(this.here, { key, value: null, platform: false }));
  }

  /** Repeats what Postgres did not end. */
  private async untilDone<Result>(act: () => Promise<Result>): Promise<Result> {
    for (const deadline = Date.now() + 60_000; ;) {
      try {
        return await act();
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await delay(100);
      }
    }
  }

  private changed(record: Imported): Imported {
    const { categoryKey } = record;
    return {
      ...record,
      // Of some computers only the posture changes.
      name: record.name && this.chance(3) ? record.name : `${categoryKey.toLowerCase()} ${this.random(1_000)}`,
      email: categoryKey === 'EMPLOYEE' ? `e${this.random(1_000)}@example.com` : null,
      checks: categoryKey === 'COMPUTER' ? [0, 1, 2, 3].map(() => this.one(CHECKS)) : [],
      isMonitored: categoryKey === 'COMPUTER' && this.chance(2),
    };
  }

  private line(
    { id, categoryKey, isVisible, name, email, checks, isMonitored }: Imported,
    lastCheckedAt: string,
  ): object {
    const [antivirusInstalled, diskEncryptionEnabled, passwordManagerInstalled, screenLockEnabled] = checks;
    return {
      ...{ categoryKey, externalId: `x-${id}`, id, name, visibility: isVisible ? 'ACTIVE' : 'HIDDEN' },
      ...(categoryKey === 'EMPLOYEE' ? { email } : {}),
      ...(categoryKey === 'COMPUTER'
        ? {
            managed: isMonitored,
            // A check-in is no change.
            lastCheckedAt,
            compliance: { antivirusInstalled, diskEncryptionEnabled, passwordManagerInstalled, screenLockEnabled },
          }
        : {}),
    };
  }

  private get employees(): readonly Imported[] {
    return this.all.filter(({ categoryKey }) => categoryKey === 'EMPLOYEE');
  }

  /** True once in so many times. */
  private chance(times: number): boolean {
    return this.random(times) === 0;
  }

  private one<Value>(values: readonly Value[]): Value {
    return values[this.random(values.length)] as Value;
  }
}
