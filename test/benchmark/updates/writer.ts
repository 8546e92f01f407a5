import { randomUUID } from 'node:crypto';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Setting } from '../setting';
import { median, milliseconds } from '../statistics';
import { ServedApi } from './served-api';

const CLASSIFICATIONS = ['UNKNOWN', 'PUBLIC', 'INTERNAL', 'CONFIDENTIAL'];

async function assetsOf(database: BenchmarkDatabase): Promise<string[]> {
  const { rows } = await database.admin.query<{ id: string }>(
    'SELECT public_id AS id FROM asset WHERE facet IS NOT NULL AND sub_key <> 15 ORDER BY md5(public_id::text)',
  );
  return rows.map(({ id }) => id);
}

/** One client of an instance that sends one request at a time, and changes every asset in turn. */
export class Writer {
  private sent = 0;
  private asset = 0;

  private constructor(
    private readonly api: ServedApi,
    private readonly assets: readonly string[],
  ) {}

  static async start({ cluster, sizes }: Setting, database: BenchmarkDatabase): Promise<Writer> {
    const api = await ServedApi.start(cluster, database, await database.workspace(sizes.served));
    const writer = new Writer(api, await assetsOf(database));
    await writer.write(1, sizes.warmUpRequests / 10);
    return writer;
  }

  /** Returns the median milliseconds of so many updates of `count` assets each. */
  async write(count: number, times: number): Promise<number> {
    const elapsed: number[] = [];
    for (let time = 0; time < times; time += 1) {
      this.sent += 1;
      const ids = Array.from({ length: count }, () => this.assets[(this.asset += 1) % this.assets.length] as string);
      const patch = { classification: CLASSIFICATIONS[this.sent % 4], description: `Reviewed ${this.sent}` };
      const [path, body] = count === 1 ? [`/${ids[0]}`, patch] : ['', { ids, patch }];
      const key = randomUUID();
      elapsed.push(await milliseconds(() => this.api.patch(`/v1/inventory/assets${path}`, key, body, 'first')));
    }
    return median(elapsed);
  }

  stop(): Promise<void> {
    return this.api.stop();
  }
}
