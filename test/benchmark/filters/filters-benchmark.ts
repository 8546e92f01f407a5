import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform';
import type { AssetFilter } from '../../../libs/inventory/src/domain/asset-filter';
import { DEMO_SIZES, type DemoSize } from '../../../libs/inventory/src/domain/demo-inventory';
import type { AssetRepositoryTypeorm } from '../../../libs/inventory/src/typeorm/asset-repository.typeorm';
import { ASSET_FILTERS } from '../../support/asset-filters';
import { assetRepositoryOn } from '../../support/asset-repository';
import { buffersOf, explainPage } from '../../support/page-plan';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings, Measurement } from '../findings';
import type { Setting } from '../setting';
import { formatNumber, median, milliseconds } from '../statistics';
import { takeTurns } from '../turns';
import { type Depth, positionsOf } from './depths';

const PAGE = 25;
const REPEATS = 40;
const TURNS = 4;
const DEPTHS: readonly Depth[] = ['first', 'middle', 'last'];

interface Case {
  readonly workspace: WorkspaceId;
  readonly size: DemoSize;
  readonly depth: Depth;
  readonly after: string | null;
  /** Items on its page: fewer than fit where fewer match. */
  readonly items: number;
}

/** Pages of workspaces of several sizes in one table, with every filter, at every depth. */
export async function benchmarkFilters(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  const database = await cluster.inventory();
  const workspaces = new Map<DemoSize, WorkspaceId>();
  for (const size of sizes.workspaces) workspaces.set(size, await database.workspace(size));
  const repository = assetRepositoryOn(new Database(database.api));
  const measurements: Measurement[] = [];
  const worst = { size: 0, depth: 0, buffers: 0 };
  for (const filter of ASSET_FILTERS) {
    const cases = await casesOf(repository, database, workspaces, filter);
    const times = await measure(repository, filter, cases, sizes.rounds);
    const subject = describeFilter(filter);
    for (const [name, one] of Object.entries(cases)) {
      const variant = `${DEMO_SIZES[one.size].toLocaleString('en')} assets, ${one.depth} page`;
      const plan = await explainPage(database.api, one.workspace, filter, { size: PAGE, after: one.after });
      const buffers = buffersOf(plan);
      worst.buffers = Math.max(worst.buffers, buffers);
      measurements.push({ subject, variant, figure: 'p50', unit: 'ms', values: times[name] ?? [] });
      measurements.push({ subject, variant, figure: 'buffers', unit: '', values: [buffers] });
    }
    const ratios = ratiosOf(times, cases, sizes.workspaces);
    worst.size = Math.max(worst.size, ratios.size);
    worst.depth = Math.max(worst.depth, ratios.depth);
    say(`  ${subject}: by size ${formatNumber(ratios.size)}, by depth ${formatNumber(ratios.depth)}`);
  }
  const total = await totalAgainstCount(database, repository, workspaces.get(sizes.served) as WorkspaceId);
  return {
    measurements,
    measured: {
      'filter-size': worst.size,
      'filter-depth': worst.depth,
      'filter-buffers': worst.buffers,
      'total-count': total,
    },
  };
}

const describeFilter = (filter: AssetFilter): string =>
  Object.entries(filter)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'no filter';

const nameOf = (size: DemoSize, depth: Depth): string => `${size} ${depth}`;

async function casesOf(
  repository: AssetRepositoryTypeorm,
  database: BenchmarkDatabase,
  workspaces: ReadonlyMap<DemoSize, WorkspaceId>,
  filter: AssetFilter,
): Promise<Record<string, Case>> {
  const cases: Record<string, Case> = {};
  for (const [size, workspace] of workspaces) {
    const positions = await positionsOf(repository, database, workspace, filter, PAGE);
    for (const depth of DEPTHS) {
      const after = positions[depth];
      const { items } = await repository.list(workspace, filter, { size: PAGE, after });
      cases[nameOf(size, depth)] = { workspace, size, depth, after, items: items.length };
    }
  }
  return cases;
}

/** The least median of each round's turns, by the names of the cases. */
function measure(
  repository: AssetRepositoryTypeorm,
  filter: AssetFilter,
  cases: Readonly<Record<string, Case>>,
  rounds: number,
): Promise<Record<string, number[]>> {
  return takeTurns(
    Object.keys(cases),
    { rounds, turns: TURNS },
    async (name) => {
      const { workspace, after } = cases[name] as Case;
      const elapsed: number[] = [];
      for (let repeat = 0; repeat < REPEATS; repeat += 1) {
        elapsed.push(await milliseconds(() => repository.list(workspace, filter, { size: PAGE, after })));
      }
      return median(elapsed);
    },
    // What else the machine did meanwhile only ever makes a turn slower.
    (turns) => Math.min(...turns),
  );
}

/**
 * The worst of the largest workspace against the smallest whose page at the same depth has as many items, and of the last
 * page against the first, by the least time of each.
 */
function ratiosOf(
  times: Readonly<Record<string, readonly number[]>>,
  cases: Readonly<Record<string, Case>>,
  sizes: readonly DemoSize[],
): { readonly size: number; readonly depth: number } {
  const least = (size: DemoSize, depth: Depth): number => Math.min(...(times[nameOf(size, depth)] ?? []));
  const items = (size: DemoSize, depth: Depth): number | undefined => cases[nameOf(size, depth)]?.items;
  const largest = sizes.at(-1) as DemoSize;
  const smallestLike = (depth: Depth): DemoSize =>
    sizes.find((size) => items(size, depth) === items(largest, depth)) as DemoSize;
  return {
    size: Math.max(...DEPTHS.map((depth) => least(largest, depth) / least(smallestLike(depth), depth))),
    depth: least(largest, 'last') / least(largest, 'first'),
  };
}

/** The exact total is a sum over counters: it costs the same part of a page whatever the number of assets. */
async function totalAgainstCount(
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
  return page / count;
}
