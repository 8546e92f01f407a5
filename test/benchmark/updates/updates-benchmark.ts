import { randomUUID } from 'node:crypto';
import type { WorkspaceId } from '#libs/kernel';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings } from '../findings';
import type { Setting } from '../setting';
import { median, milliseconds } from '../statistics';
import { BareUpdates } from './bare-updates';
import { ServedApi } from './served-api';
import {
  type Bulk,
  type Cost,
  type Costs,
  type Round,
  type Single,
  type Variant,
  measurementsOf,
  targetsOf,
} from './update-costs';

const BULK = 100;
/** Turns of each variant in a round. */
const TURNS = 4;
/**
 * A client with many changes sends them without a break. After a break the API's memory would be out of every cache.
 */
const UPDATES_PER_TURN = 100;
/** An update, its bare transaction and its replay take as long as this many reads. */
const READS_PER_UPDATE = 3;
const BULKS_PER_TURN = 10;

const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];

/**
 * Compares updates over HTTP, one after the other, with bare transactions of the same client that write the same rows.
 */
export async function benchmarkUpdates(setting: Setting): Promise<Findings> {
  const database = await setting.cluster.aDatabase();
  const workspace = await database.workspace(setting.sizes.served);
  const { rows } = await database.admin.query<{ id: string }>(
    'SELECT public_id AS id FROM asset WHERE facet IS NOT NULL AND sub_key <> 15 ORDER BY md5(public_id::text)',
  );
  const assets = rows.map(({ id }) => id);
  const durable = await measure('on', setting, database, workspace, assets);
  const quick = await measure('off', setting, database, workspace, assets);
  await database.drop();
  return {
    measurements: [
      ...measurementsOf('one client', durable),
      ...measurementsOf('one client, synchronous_commit off', quick),
    ],
    measured: targetsOf(durable),
  };
}

/** Measures with commits on disk before the response, or with asynchronous commits. */
async function measure(
  synchronousCommit: 'on' | 'off',
  { cluster, sizes, say }: Setting,
  database: BenchmarkDatabase,
  workspace: WorkspaceId,
  assets: readonly string[],
): Promise<Round[]> {
  say(`  synchronous_commit ${synchronousCommit}`);
  const name = new URL(database.databaseUrl).pathname.slice(1);
  // Applies to new connections.
  await database.admin.query(`ALTER DATABASE ${name} SET synchronous_commit = ${synchronousCommit}`);
  const api = await ServedApi.start(cluster, database, workspace);
  const bare = await BareUpdates.connect(database.databaseUrl, workspace);
  const updates = new Updates(api, bare, assets, `Reviewed with ${synchronousCommit}`);
  await updates.singles(sizes.warmUpRequests / READS_PER_UPDATE / UPDATES_PER_TURN);
  const singles: Costs<Single>[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) singles.push(await updates.singles(TURNS));
  // Bulk updates come last, because their audit events keep the sealer busy.
  await updates.bulks(TURNS);
  const measured: Round[] = [];
  for (const single of singles) measured.push({ ...single, ...(await updates.bulks(TURNS)) });
  await bare.close();
  await api.stop();
  return measured;
}

/** One client that sends one request at a time. */
class Updates {
  private sent = 0;
  private asset = 0;
  private readonly lastResult = { update: '', bulk: '' };

  constructor(
    private readonly api: ServedApi,
    private readonly bare: BareUpdates,
    private readonly assets: readonly string[],
    private readonly text: string,
  ) {}

  /** Measures single updates, their bare transactions and their replays. */
  async singles(turns: number): Promise<Costs<Single>> {
    let requests: UpdateRequest[] = [];
    return this.takeTurns(turns, {
      update: () => {
        requests = times(UPDATES_PER_TURN, () => this.request(1));
        return requests.map((one) => () => this.update(one, 'first'));
      },
      'bare update': () => times(UPDATES_PER_TURN, () => this.bareUpdate(1, this.lastResult.update)),
      replay: () => requests.map((one) => () => this.update(one, 'replay')),
    });
  }

  async bulks(turns: number): Promise<Costs<Bulk>> {
    return this.takeTurns(turns, {
      bulk: () => times(BULKS_PER_TURN, () => this.bulk(this.request(BULK))),
      'bare bulk': () => times(BULKS_PER_TURN, () => this.bareUpdate(BULK, this.lastResult.bulk)),
      'differing bulk': () => times(BULKS_PER_TURN, () => this.differingBulk(this.request(BULK))),
    });
  }

  private async takeTurns<Name extends Variant>(
    turns: number,
    variants: Readonly<Record<Name, () => readonly (() => Promise<unknown>)[]>>,
  ): Promise<Costs<Name>> {
    const names = Object.keys(variants) as Name[];
    const samples = new Map(names.map((name) => [name, { elapsed: [] as number[], client: 0, server: 0 }]));
    for (let turn = 0; turn < turns; turn += 1) {
      for (const [name, sample] of samples) {
        const works = variants[name]();
        const serverBefore = await this.api.cpuMilliseconds();
        const clientBefore = process.cpuUsage();
        for (const work of works) sample.elapsed.push(await milliseconds(work));
        const { user, system } = process.cpuUsage(clientBefore);
        sample.client += (user + system) / 1000;
        sample.server += (await this.api.cpuMilliseconds()) - serverBefore;
      }
    }
    const costs = [...samples].map(([name, { elapsed, client, server }]): [Name, Cost] => [
      name,
      { elapsed: median(elapsed), client: client / elapsed.length, server: server / elapsed.length },
    ]);
    return Object.fromEntries(costs) as Costs<Name>;
  }

  /** Uses every asset in turn, each time with a new description, so that each request changes something. */
  private request(count: number): UpdateRequest {
    this.sent += 1;
    const ids = times(count, () => this.assets[(this.asset += 1) % this.assets.length] as string);
    return { key: randomUUID(), ids, classification: this.sent % 4, description: `${this.text} ${this.sent}` };
  }

  private async update(one: UpdateRequest, expected: 'first' | 'replay'): Promise<void> {
    const path = `/v1/inventory/assets/${one.ids[0] ?? ''}`;
    this.lastResult.update = await this.api.patch(path, one.key, patchOf(one), expected);
  }

  private bulk(one: UpdateRequest): () => Promise<void> {
    return async () => {
      const body = { ids: one.ids, patch: patchOf(one) };
      this.lastResult.bulk = await this.api.patch('/v1/inventory/assets', one.key, body, 'first');
    };
  }

  private differingBulk(one: UpdateRequest): () => Promise<void> {
    const updates = one.ids.map((id, index) => {
      const [classification, description] = [(one.classification + index) % 4, `${one.description} ${index}`];
      return { id, patch: patchOf({ classification, description }) };
    });
    return async () => {
      await this.api.patch('/v1/inventory/assets', one.key, { updates }, 'first');
    };
  }

  private bareUpdate(count: number, response: string): () => Promise<void> {
    const { ids, classification, description } = this.request(count);
    return () => this.bare.update(ids, classification, description, response);
  }
}

interface UpdateRequest {
  readonly key: string;
  readonly ids: readonly string[];
  readonly classification: number;
  readonly description: string;
}

const patchOf = ({ classification, description }: Pick<UpdateRequest, 'classification' | 'description'>): object => ({
  classification: CLASSIFICATIONS[classification],
  description,
});

const times = <Item>(count: number, make: () => Item): Item[] => Array.from({ length: count }, make);
