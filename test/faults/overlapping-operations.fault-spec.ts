import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ImportReport, AssetCounters, type ImportsService, RemovedAssets } from '#libs/inventory/operators';
import { type WorkspaceId, workspaceId } from '#libs/kernel';
import { FeedRestart } from '#libs/platform/changes';
import { Database } from '#libs/platform/database';
import type { DataSource } from 'typeorm';
import { TagKeyRepositoryTypeorm } from '../../libs/inventory/src/tag-keys/typeorm/tag-key-repository.typeorm';
import { anAuditRecorder } from '../support/audit-recorder';
import { operatorDataSource } from '../support/database-connection';
import { importsOn } from '../support/imports';
import { FaultSetting } from './fault-setting';
import type { Operation } from './operation-log';
import { MINUTE, sized, tell } from './sizes';

const ROUNDS = sized({ short: 2, long: 40 });
const RECORDS = sized({ short: 150, long: 3_000 });
/** Small batches, so that every command of a round meets many of them. */
const BATCH = 50;
const SOURCES = ['one', 'two', 'three'];
/** Operators delete and create the second and third key while imports use them. */
const KEYS = ['env', 'team', 'tier'];
const DELETED_KEYS = KEYS.slice(1);
/** Assets that clients update. No import hides them. */
const UPDATED = 100;

interface Item {
  readonly categoryKey: string;
  readonly externalId: string;
  readonly name: string;
  readonly visibility: 'ACTIVE' | 'HIDDEN';
  readonly owner?: string;
  readonly tags: readonly { readonly key: string }[];
}

interface Stored {
  readonly external_id: string;
  readonly name: string;
  readonly visibility: number;
  readonly keys: readonly string[];
}

describe('Overlapping operations of one workspace', () => {
  let setting: FaultSetting;
  let dataSource: DataSource;
  let here: WorkspaceId;
  let stable: string[];
  let imports: ImportsService;
  let tagKeys: TagKeyRepositoryTypeorm;
  beforeAll(async () => {
    setting = await FaultSetting.open();
    await setting.startInstances({}, {});
    dataSource = await operatorDataSource(setting.databases, 16);
    const arrange = await setting.enterWorkspace();
    here = workspaceId(setting.workspace);
    imports = importsOn(dataSource);
    tagKeys = new TagKeyRepositoryTypeorm(new Database(dataSource), anAuditRecorder());
    for (const key of KEYS) await tagKeys.create(here, { key, value: null, platform: false });
    stable = await setting.assets(arrange, UPDATED);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await setting.close();
  });

  it(
    'all end, and leave what they report',
    async () => {
      const done = { imported: 0, failed: 0, purged: 0, deletions: 0, updates: 0 };
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = await countAssets();
        const inputs = SOURCES.map((source) => ({ source, items: itemsOf(round) }));
        let importing = true;
        const whileImporting = async (work: () => Promise<void>): Promise<void> => {
          do await work();
          while (importing);
        };
        const database = new Database(dataSource);
        let purged = 0;
        const others = [
          whileImporting(async () => {
            purged += await new RemovedAssets(database).purge(here, new Date('2999-01-01'), () => undefined);
          }),
          ...DELETED_KEYS.map((key) =>
            whileImporting(async () => {
              await delay(randomInt(30));
              expect(await tagKeys.delete(here, key)).not.toBeNull();
              done.deletions += 1;
              await delay(randomInt(30));
              expect(await tagKeys.create(here, { key, value: null, platform: false })).not.toBeNull();
            }),
          ),
          whileImporting(async () => {
            await new FeedRestart(database).restart(here);
            const { wrong, wrongValues, wrongComputers } = await new AssetCounters(database).reconcile(here);
            expect([wrong, wrongValues, wrongComputers]).toEqual([[], [], 0]);
          }),
          whileImporting(async () => {
            await Promise.all([send(aBulk()), send(aSingle())]);
            done.updates += 2;
          }),
        ];
        const imported = Promise.all(inputs.map(({ source, items }) => run(source, items))).finally(
          () => (importing = false),
        );
        const ended = await Promise.allSettled([imported, ...others]);
        expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
        const reports = await imported;

        let created = 0;
        for (const [n, report] of reports.entries()) {
          const { source, items } = inputs[n] as (typeof inputs)[number];
          expect(report.read).toBe(items.length);
          expect(report.created + report.updated + report.unchanged + report.failed).toBe(items.length);
          expect(await lost(source, items, report)).toEqual([]);
          created += report.created;
          done.imported += items.length;
          done.failed += report.failed;
        }
        expect(await countAssets()).toBe(before + created - purged);
        done.purged += purged;
      }
      tell('overlapping operations', done);
      const applied = [...setting.log.read()].filter(([, { attempts }]) =>
        attempts.some((attempt) => attempt.kind === 'response' && attempt.status === 200),
      );
      expect(await setting.faults({ versionsCount: false, histories: new Map(applied) })).toEqual([]);
    },
    sized({ short: 3, long: 20 }) * MINUTE,
  );

  /** Owners are employees of the same input. About a third of everything is hidden, and may be purged at once. */
  function itemsOf(round: number): Item[] {
    return Array.from({ length: RECORDS }, (_, n) => ({
      categoryKey: ['EMPLOYEE', 'COMPUTER', 'INFORMATION'][n % 3] as string,
      externalId: `x-${n}`,
      name: `${n} of round ${round}`,
      visibility: randomInt(3) === 0 ? ('HIDDEN' as const) : ('ACTIVE' as const),
      ...(randomInt(2) === 0 ? { owner: `x-${randomInt(RECORDS / 3) * 3}` } : {}),
      tags: KEYS.filter(() => randomInt(3) > 0).map((key) => ({ key })),
    }));
  }

  async function run(source: string, items: readonly Item[]): Promise<ImportReport> {
    const options = {
      source,
      files: [],
      dryRun: false,
      missing: 'keep',
      createTagKeys: null,
      batchSize: BATCH,
    } as const;
    const lines = items.map((value, n) => ({ fileIndex: 0, line: n + 1, value }));
    return imports.runLines(here, options, lines);
  }

  /** Returns records that are neither in the inventory as they were sent nor refused for a reason that was true. */
  async function lost(source: string, items: readonly Item[], { errors }: ImportReport): Promise<unknown[]> {
    const { rows } = await setting.admin.query<Stored>(
      `SELECT external_id, name, visibility,
              ARRAY(SELECT tag ->> 'key' FROM jsonb_array_elements(tags) AS tag) AS keys
         FROM asset WHERE workspace_id = $1 AND source = $2`,
      [here, source],
    );
    const stored = new Map(rows.map((row) => [row.external_id, row]));
    const reasons = new Map(errors.map(({ line, reason }) => [line, reason]));
    const byId = new Map(items.map((item, n) => [item.externalId, { item, reason: reasons.get(n + 1) }]));
    return items.flatMap((item, n): unknown[] => {
      const reason = reasons.get(n + 1);
      const found = stored.get(item.externalId);
      if (reason !== undefined) {
        const owner = byId.get(item.owner ?? '');
        const isTrue = reason.startsWith('tags')
          ? item.tags.some(({ key }) => DELETED_KEYS.includes(key))
          : // Random owners may be a circle of new employees.
            /^(owner|New employees)/.test(reason) &&
            (owner?.item.visibility === 'HIDDEN' || owner?.reason !== undefined);
        return isTrue ? [] : [{ source, item, reason, owner }];
      }
      if (!found) return item.visibility === 'HIDDEN' ? [] : [{ source, item, found: null }];
      const sent = item.tags.map(({ key }) => key);
      const isSame =
        found.name === item.name &&
        (found.visibility === 0) === (item.visibility === 'ACTIVE') &&
        found.keys.includes('env') === sent.includes('env') &&
        found.keys.every((key) => sent.includes(key));
      return isSame ? [] : [{ source, item, found }];
    });
  }

  async function countAssets(): Promise<number> {
    const text = 'SELECT count(*)::int AS n FROM asset WHERE workspace_id = $1';
    return (await setting.admin.query<{ n: number }>(text, [here])).rows[0]?.n ?? 0;
  }

  const aBulk = (): Operation => {
    const ids = stable.filter(() => randomInt(2) === 0).slice(0, 50);
    const body = { ids, patch: { description: randomUUID(), tags: someTags() } };
    return { key: randomUUID(), assets: ids, path: '/v1/inventory/assets', body };
  };
  const aSingle = (): Operation => {
    const asset = stable[randomInt(UPDATED)] as string;
    const body = { description: randomUUID(), tags: someTags() };
    return { key: randomUUID(), assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
  };
  const someTags = () => KEYS.filter(() => randomInt(2) === 0).map((key) => ({ key }));

  /** A tag key that was deleted a moment ago is the only reason for a refusal. */
  async function send(operation: Operation): Promise<void> {
    setting.log.sent(operation);
    const response = await setting.client().attempt(operation, setting.origins[randomInt(2)] as string);
    if (response.kind === 'lost' || (response.status !== 200 && response.code !== 'validation_failed')) {
      throw new Error(JSON.stringify(response));
    }
  }
});
