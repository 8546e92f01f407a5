import { randomInt, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Operation, keyHashOf } from './operation-log';
import { FaultSetting } from './fault-setting';
import { MINUTE, sized, tell } from './sizes';

const BULKS = sized({ short: 30, long: 400 });
const SINGLES = sized({ short: 60, long: 800 });
const RACES = sized({ short: 20, long: 300 });
/** Few, so that two bulk updates of a hundred overlap in most of them. */
const ASSETS = 130;
const SENDERS = 10;

interface Tag {
  readonly key: string;
}

describe('Concurrent updates', () => {
  let setting: FaultSetting;
  let assets: string[];
  let arrange: Awaited<ReturnType<FaultSetting['enterWorkspace']>>;
  beforeAll(async () => {
    setting = await FaultSetting.open();
    await setting.startInstances({}, {});
  });
  afterAll(() => setting.close());
  beforeEach(async () => {
    arrange = await setting.enterWorkspace();
    assets = await setting.assets(arrange, ASSETS);
  });

  const aBulk = (n: number): Operation => {
    const ids = shuffled(assets).slice(0, 100);
    const patch = { description: `bulk ${n}`, classification: n % 2 === 0 ? 'PUBLIC' : 'INTERNAL' };
    return { key: randomUUID(), assets: ids, path: '/v1/inventory/assets', body: { ids, patch } };
  };
  const aSingle = (n: number): Operation => {
    const asset = assets[randomInt(ASSETS)] as string;
    return {
      key: randomUUID(),
      assets: [asset],
      path: `/v1/inventory/assets/${asset}`,
      body: { description: `single ${n}`, tags: n % 2 === 0 ? [{ key: 'env' }] : [] },
    };
  };
  /** Sends each operation once, several at a time over all instances. Nothing is retried, so every response counts. */
  const sendEach = async (operations: readonly Operation[]): Promise<void> => {
    const client = setting.client();
    const left = operations.map((operation, n) => ({ operation, origin: setting.origins[n % 2] as string }));
    const sender = async (): Promise<void> => {
      for (let next = left.pop(); next; next = left.pop()) {
        setting.log.sent(next.operation);
        await client.attempt(next.operation, next.origin);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
  };
  const statuses = (): unknown[] => [
    ...new Set(
      [...setting.log.read().values()].flatMap(({ attempts }) =>
        attempts.map((attempt) => (attempt.kind === 'lost' ? attempt.reason : attempt.status)),
      ),
    ),
  ];
  const deadlocks = async (): Promise<number> => {
    // Postgres publishes statistics within a second.
    await delay(1_200);
    const { rows } = await setting.admin.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(rows[0]?.deadlocks);
  };

  it(
    'in overlapping bulk updates of a hundred assets never deadlock and apply completely',
    async () => {
      const before = await deadlocks();
      await sendEach(Array.from({ length: BULKS }, (_, n) => aBulk(n)));
      const found = (await deadlocks()) - before;
      tell('overlapping bulks', { bulks: BULKS, deadlocks: found });
      expect(statuses()).toEqual([200]);
      expect(found).toBe(0);
      expect(await setting.faults()).toEqual([]);
    },
    sized({ short: 3, long: 10 }) * MINUTE,
  );

  it(
    'in bulk, of single assets and by an import all succeed',
    async () => {
      await arrange.aTagKey(setting.workspace, 'env');
      const mixed = [
        ...Array.from({ length: Math.ceil(BULKS / 2) }, (_, n) => aBulk(n)),
        ...Array.from({ length: SINGLES }, (_, n) => aSingle(n)),
      ];
      let sending = true;
      const sends = sendEach(shuffled(mixed)).finally(() => (sending = false));
      let imports = 0;
      for (; sending || imports === 0; imports += 1) {
        const report = await setting.import(await importFile(`import ${imports}`));
        expect(report).toMatchObject({ read: ASSETS, updated: ASSETS, failed: 0 });
      }
      await sends;
      tell('mixed updates', { updates: mixed.length, imports });
      expect(statuses()).toEqual([200]);
      expect(await setting.faults({ versionsCount: false })).toEqual([]);
    },
    sized({ short: 3, long: 10 }) * MINUTE,
  );

  it(
    "of one asset's tags store one request's set, and each response and audit event shows its own",
    async () => {
      const sets = ['cost env team', 'cost tier zone'];
      for (const key of ['cost', 'env', 'team', 'tier', 'zone', 'old']) await arrange.aTagKey(setting.workspace, key);
      const client = setting.client();
      /** Replaces the tags and returns the idempotency key. @throws unless the response shows exactly these tags */
      const replace = async (asset: string, set: string, requester: number): Promise<string> => {
        const key = randomUUID();
        const body = { tags: set.split(' ').map((name) => ({ key: name })) };
        const operation = { key, assets: [asset], path: `/v1/inventory/assets/${asset}`, body };
        const response = await client.attempt(operation, setting.origins[requester] as string);
        if (response.kind === 'lost' || response.status !== 200) throw new Error(JSON.stringify(response));
        expect(namesOf((JSON.parse(response.text) as { tags: Tag[] }).tags)).toBe(set);
        return key;
      };
      const mixtures: unknown[] = [];
      for (let race = 0; race < RACES; race += 1) {
        const asset = assets[race % ASSETS] as string;
        await replace(asset, 'old', 0);
        const keys = await Promise.all(sets.map((set, requester) => replace(asset, set, requester)));
        const steps = await tagSteps(asset, keys);
        if (!sets.some((first) => steps === `old > ${first} > ${sets.find((set) => set !== first)}`)) {
          mixtures.push(steps);
        }
      }
      tell('tag races', { races: RACES, mixtures: mixtures.length });
      expect(mixtures).toEqual([]);
      expect(await setting.tagFaults()).toEqual([]);
      expect(await setting.auditFaults()).toEqual([]);
    },
    sized({ short: 3, long: 5 }) * MINUTE,
  );

  /** The steps from the old tags to the current ones, reconstructed from the audit of both requests and the asset. */
  async function tagSteps(asset: string, keys: readonly string[]): Promise<string> {
    const { rows: events } = await setting.admin.query<{ before: Tag[]; after: Tag[] }>(
      `SELECT changes -> 'tags' -> 'old' AS before, changes -> 'tags' -> 'new' AS after FROM audit_event
        WHERE workspace_id = $1 AND asset_id = $2 AND key_hash = ANY ($3)`,
      [setting.workspace, asset, keys.map(keyHashOf)],
    );
    const { rows } = await setting.admin.query<{ tags: Tag[] }>('SELECT tags FROM asset WHERE public_id = $1', [asset]);
    const end = namesOf(rows[0]?.tags ?? []);
    const last = events.find(({ after }) => namesOf(after) === end);
    const first = events.find((event) => event !== last);
    if (!first || !last || namesOf(first.after) !== namesOf(last.before)) return JSON.stringify({ events, end });
    return [namesOf(first.before), namesOf(first.after), end].join(' > ');
  }

  /** Writes an import file for the same assets, all with another name. */
  async function importFile(name: string): Promise<string> {
    const { rows } = await setting.admin.query<{ external_id: string }>(
      'SELECT external_id FROM asset WHERE workspace_id = $1',
      [setting.workspace],
    );
    const file = setting.file('import.ndjson');
    const records = rows.map(({ external_id }) => ({ categoryKey: 'CUSTOM', externalId: external_id, name }));
    writeFileSync(
      file,
      shuffled(records)
        .map((record) => JSON.stringify(record))
        .join('\n'),
    );
    return file;
  }
});

const namesOf = (tags: readonly Tag[]): string =>
  tags
    .map(({ key }) => key)
    .sort()
    .join(' ');

function shuffled<Item>(items: readonly Item[]): Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    [result[last], result[other]] = [result[other] as Item, result[last] as Item];
  }
  return result;
}
