import { Clock } from '#libs/kernel';
import { loadSettings } from '#libs/platform/config';
import type { AssetFilter } from '../../../libs/inventory/src/assets/domain/asset-filter';
import type { DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import { CursorKeys } from '../../../libs/platform/src/keys/cursor-keys';
import { Cursors } from '../../../libs/platform/src/pagination/cursors';
import type { BenchmarkDatabase } from '../benchmark-database';
import { KeepAliveConnection } from '../keep-alive-connection';
import { cannonade } from '../load';
import type { MeasuredProcess } from '../measured-process';
import { accessTo, apiEnvironment, arrangementAt, startApi } from '../servers';
import type { Setting } from '../setting';
import { median } from '../statistics';
import { takeTurns } from '../turns';
import type { Place } from './depths';

const ASSETS = '/v1/inventory/assets';
/**
 * Random positions of a turn. At least half must have a full page behind them, or too few assets match for a
 * comparison.
 */
const DRAWN = 80;
const FEWEST = DRAWN / 2;

interface Client extends Place {
  readonly authorization: string;
}

/**
 * Reads pages over HTTP after random positions, so in a large workspace hardly any page was read before. Creates the
 * cursors with the API's key, because obtaining them would require reading all pages in between.
 */
export class RandomPages {
  private constructor(
    private readonly api: MeasuredProcess,
    private readonly cursors: Cursors,
    private readonly clients: ReadonlyMap<DemoSize, Client>,
  ) {}

  static async open(
    { cluster, sizes }: Setting,
    database: BenchmarkDatabase,
    places: ReadonlyMap<DemoSize, Place>,
  ): Promise<RandomPages> {
    const api = await startApi(cluster, database.databaseUrl);
    const arrange = arrangementAt(cluster, database, api.port);
    const clients = new Map<DemoSize, Client>();
    for (const [size, place] of places) {
      const { authorization } = await accessTo(api.port, arrange, place.workspace);
      clients.set(size, { ...place, authorization });
      const request = { method: 'GET', path: ASSETS, headers: { authorization } } as const;
      await cannonade(api.port, [request], {
        length: { requests: sizes.warmUpRequests / places.size },
        connections: 8,
      });
    }
    const { signingKeysDir, cursorKeysFile } = loadSettings(apiEnvironment(cluster, database.databaseUrl));
    const cursors = new Cursors(await new CursorKeys(signingKeysDir, cursorKeysFile, new Clock()).open());
    return new RandomPages(api, cursors, clients);
  }

  /** Returns the p50 of a full page in milliseconds for each round, by the sizes with enough pages. */
  async time(
    filterOf: (size: DemoSize) => AssetFilter,
    pageSize: number,
    rounds: number,
  ): Promise<Partial<Record<DemoSize, number[]>>> {
    // The API closes a connection that rests, and measuring by size and depth takes longer than that.
    const connection = await KeepAliveConnection.open(this.api.port);
    const times = await takeTurns(
      [...this.clients.keys()],
      { rounds, turns: 1 },
      async (size) => {
        const elapsed: number[] = [];
        for (let count = 0; count < DRAWN; count += 1) {
          const page = await this.read(connection, this.clients.get(size) as Client, filterOf(size), pageSize);
          if (page.items === pageSize) elapsed.push(page.elapsed);
        }
        return elapsed.length < FEWEST ? Number.NaN : median(elapsed);
      },
      median,
    );
    connection.close();
    return Object.fromEntries(Object.entries(times).filter(([, values]) => values.every(Number.isFinite)));
  }

  async close(): Promise<void> {
    await this.api.stop();
  }

  private async read(
    connection: KeepAliveConnection,
    { workspace, least, most, authorization }: Client,
    filter: AssetFilter,
    pageSize: number,
  ): Promise<{ readonly items: number; readonly elapsed: number }> {
    const after = String(least + BigInt(Math.floor(Math.random() * Number(most - least))));
    const filters = Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)]));
    const pageCursor = this.cursors.issue(workspace, 'assets', { after, filters });
    const query = new URLSearchParams({ pageSize: String(pageSize), pageCursor });
    const path = `${ASSETS}?${query.toString()}`;
    const since = performance.now();
    const { status, body } = await connection.send('GET', path, { Authorization: authorization }, '');
    const elapsed = performance.now() - since;
    if (status !== 200) throw new Error(`A page got ${status}: ${body}`);
    return { items: (JSON.parse(body) as { results: unknown[] }).results.length, elapsed };
  }
}
