import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform';
import { DEMO_SIZES } from '../../libs/inventory/src/domain/demo-inventory';
import type { AssetFilter } from '../../libs/inventory/src/domain/asset-filter';
import type { AssetRepositoryTypeorm } from '../../libs/inventory/src/typeorm/asset-repository.typeorm';
import { ASSET_FILTERS } from '../support/asset-filters';
import { assetRepositoryOn } from '../support/asset-repository';
import type { BenchmarkDatabase } from './benchmark-database';
import { loadDemoAssets } from '../support/demo-assets';
import { judge, median, milliseconds } from './statistics';

const PAGE = 25;
const REPEATS = 40;

/** Pages of a small and a large workspace of the same table, first and last, with every filter. */
export async function benchmarkReads(
  database: BenchmarkDatabase,
  options: { readonly assets: number; readonly rounds: number },
): Promise<number> {
  console.log(`\nReads: workspaces of ${DEMO_SIZES.M} and ${options.assets} assets, pages of ${PAGE}`);
  const small = await database.aWorkspace();
  const large = await database.aWorkspace();
  await loadDemoAssets(database.operator, small, DEMO_SIZES.M);
  await loadDemoAssets(database.operator, large, options.assets);
  await database.admin.query('VACUUM ANALYZE');

  const repository = assetRepositoryOn(new Database(database.api));
  let missed = 0;
  const worst = { size: 0, depth: 0 };
  for (const filter of ASSET_FILTERS) {
    const cases = {
      smallFirst: { workspace: small, after: null },
      largeFirst: { workspace: large, after: null },
      largeLast: { workspace: large, after: await lastPage(repository, database, large, filter) },
    };
    const times: Record<keyof typeof cases, number[]> = { smallFirst: [], largeFirst: [], largeLast: [] };
    for (let round = 0; round < options.rounds; round += 1) {
      for (const [name, { workspace, after }] of Object.entries(cases)) {
        const one = () => repository.list(workspace, filter, { size: PAGE, after });
        await one();
        const elapsed: number[] = [];
        for (let repeat = 0; repeat < REPEATS; repeat += 1) elapsed.push(await milliseconds(one));
        times[name as keyof typeof cases].push(median(elapsed));
      }
    }
    // The least of the rounds' medians: what else the machine did in a round only ever makes it slower.
    const [smallFirst, largeFirst, largeLast] = [times.smallFirst, times.largeFirst, times.largeLast].map((rounds) =>
      Math.min(...rounds),
    ) as [number, number, number];
    worst.size = Math.max(worst.size, largeFirst / smallFirst);
    worst.depth = Math.max(worst.depth, largeLast / largeFirst);
    console.log(
      `  ${JSON.stringify(filter)}: ${smallFirst.toFixed(2)} ms small, ${largeFirst.toFixed(2)} ms large, ${largeLast.toFixed(2)} ms its last page`,
    );
  }
  missed += judge('slowest filter: a page of the large workspace against one of the small', worst.size, {
    atMost: 1.3,
  });
  missed += judge('slowest filter: the last page against the first', worst.depth, { atMost: 1.3 });
  missed += await benchmarkTotal(database, repository, large);
  return missed;
}

/** The exact total is a sum over counters: it costs the same part of a page whatever the number of assets. */
async function benchmarkTotal(
  database: BenchmarkDatabase,
  repository: AssetRepositoryTypeorm,
  workspace: WorkspaceId,
): Promise<number> {
  const { totalCount } = await repository.list(workspace, {}, { size: 1, after: null });
  const page = await milliseconds(() => repository.list(workspace, {}, { size: PAGE, after: null }));
  let counted = 0;
  const count = await milliseconds(async () => {
    const { rows } = await database.admin.query<{ n: string }>(
      'SELECT count(*) AS n FROM asset WHERE workspace_id = $1 AND facet IS NOT NULL',
      [workspace],
    );
    counted = Number(rows[0]?.n);
  });
  if (totalCount !== counted) throw new Error(`The total says ${totalCount}, a count ${counted}.`);
  return judge('a page with its exact total against COUNT(*) alone', page / count, { atMost: 0.5 });
}

/** Position from which one last page of at most {@link PAGE} items follows; null when there is only one page. */
async function lastPage(
  repository: AssetRepositoryTypeorm,
  { admin }: BenchmarkDatabase,
  workspace: WorkspaceId,
  filter: AssetFilter,
): Promise<string> {
  const { rows } = await admin.query<{ id: string }>('SELECT max(id)::text AS id FROM asset WHERE workspace_id = $1', [
    workspace,
  ]);
  // Half-way steps back from the end, until a page with something on it follows.
  for (let back = 64n, last = BigInt(rows[0]?.id ?? '0'); ; back *= 2n) {
    const after = last > back ? String(last - back) : '0';
    const page = await repository.list(workspace, filter, { size: PAGE, after });
    if (page.items.length > 0 || after === '0') return after;
  }
}
