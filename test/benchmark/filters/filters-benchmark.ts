import type { WorkspaceId } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import type { AssetFilter } from '../../../libs/inventory/src/assets/domain/asset-filter';
import { DEMO_SIZES, type DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import type { AssetRepositoryTypeorm } from '../../../libs/inventory/src/assets/typeorm/asset-repository.typeorm';
import { ASSET_FILTERS } from '../../support/asset-filters';
import { assetRepositoryOn } from '../../support/asset-repository';
import { buffersOf, explainPage } from '../../support/page-plan';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings, Measurement } from '../findings';
import type { Setting } from '../setting';
import { formatNumber, median, milliseconds } from '../statistics';
import { takeTurns } from '../turns';
import { DEPTHS, type Depth, type Place, placeOf, positionsOf } from './depths';
import { everyFilter } from './every-filter';
import { ExactValues, exactFilters } from './exact-filters';
import { RandomPages } from './random-pages';
import { type BySize, ratioAtRandom, ratioByDepth, ratioBySize, worstOf } from './ratios';

const PAGE = 25;
const REPEATS = 40;
const TURNS = 4;

interface Case {
  readonly filter: AssetFilter;
  readonly workspace: WorkspaceId;
  readonly size: DemoSize;
  readonly depth: Depth;
  readonly after: string | null;
  /** Items on the page: fewer than its size when fewer match. */
  readonly items: number;
}

/** Measures pages of workspaces of several sizes in one table, with every filter, at every depth. */
export async function benchmarkFilters(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  const database = await cluster.inventory();
  const places = new Map<DemoSize, Place>();
  for (const size of sizes.workspaces) places.set(size, await placeOf(database, await database.workspace(size)));
  const repository = assetRepositoryOn(new Database(database.api));
  const randomPages = await RandomPages.open(setting, database, places);
  const measurements: Measurement[] = [];
  const all = {
    bySize: [] as (number | null)[],
    atRandom: [] as (number | null)[],
    byDepth: [] as number[],
    buffers: [] as number[],
  };
  const values = await ExactValues.of(database, places);
  const measured = [...ASSET_FILTERS.map((filter) => ({ filter, isExact: false })), ...exactFilters()];
  for (const { filter, isExact } of measured) {
    const filterOf = (size: DemoSize): AssetFilter => values.fill(size, filter);
    const cases = await casesOf(repository, places, filterOf);
    const times = await measure(repository, cases, sizes.rounds);
    const subject = describeFilter(filter);
    for (const [name, one] of Object.entries(cases)) {
      const variant = `${describeSize(one.size)}, ${one.depth} page`;
      const plan = await explainPage(database.api, one.workspace, one.filter, { size: PAGE, after: one.after });
      const buffers = buffersOf(plan);
      // Totals of an exact value beside facets may count its assets, so they have no target.
      if (!isExact) all.buffers.push(buffers);
      measurements.push({ subject, variant, figure: 'p50', unit: 'ms', values: times[name] ?? [] });
      measurements.push({ subject, variant, figure: 'buffers', unit: '', values: [buffers] });
    }
    const random = await randomPages.time(filterOf, PAGE, sizes.rounds);
    for (const [size, values] of Object.entries(random)) {
      const variant = `${describeSize(size as DemoSize)}, random pages`;
      measurements.push({ subject, variant, figure: 'p50', unit: 'ms', values });
    }
    const pages = pagesOf(times, cases, sizes.workspaces);
    const [bySize, byDepth] = [ratioBySize(pages), ratioByDepth(pages)];
    const atRandom = ratioAtRandom(sizes.workspaces.map((size) => random[size]));
    if (!isExact) {
      all.bySize.push(bySize);
      all.byDepth.push(byDepth);
      all.atRandom.push(atRandom);
    }
    const ratios = { 'by size': bySize, 'by depth': byDepth, 'at random': atRandom };
    const said = Object.entries(ratios).map(([name, ratio]) => `${name} ${formatNumber(ratio ?? Number.NaN)}`);
    say(`  ${subject}: ${said.join(', ')}`);
  }
  await randomPages.close();
  const largest = places.get(sizes.workspaces.at(-1) as DemoSize) as Place;
  const buffers = await worstBuffers(setting, repository, database, largest);
  measurements.push({ subject: 'every filter', variant: 'worst page', figure: 'buffers', unit: '', values: [buffers] });
  const total = await totalAgainstCount(database, repository, await database.workspace(sizes.served));
  return {
    measurements,
    measured: {
      'filter-size': worstOf(all.bySize),
      'filter-random': worstOf(all.atRandom),
      'filter-depth': worstOf(all.byDepth),
      'filter-buffers': worstOf([...all.buffers, buffers]),
      'total-count': total,
    },
  };
}

const describeFilter = (filter: AssetFilter): string =>
  Object.entries(filter)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'no filter';

const describeSize = (size: DemoSize): string => `${DEMO_SIZES[size].toLocaleString('en')} assets`;

const nameOf = (size: DemoSize, depth: Depth): string => `${size} ${depth}`;

async function casesOf(
  repository: AssetRepositoryTypeorm,
  places: ReadonlyMap<DemoSize, Place>,
  filterOf: (size: DemoSize) => AssetFilter,
): Promise<Record<string, Case>> {
  const cases: Record<string, Case> = {};
  for (const [size, place] of places) {
    const { workspace } = place;
    const filter = filterOf(size);
    const positions = await positionsOf(repository, place, filter, PAGE);
    for (const depth of DEPTHS) {
      const after = positions[depth];
      const { items } = await repository.list(workspace, filter, { size: PAGE, after });
      cases[nameOf(size, depth)] = { filter, workspace, size, depth, after, items: items.length };
    }
  }
  return cases;
}

/** Returns the smallest median of each round's turns, by case. */
function measure(
  repository: AssetRepositoryTypeorm,
  cases: Readonly<Record<string, Case>>,
  rounds: number,
): Promise<Record<string, number[]>> {
  return takeTurns(
    Object.keys(cases),
    { rounds, turns: TURNS },
    async (name) => {
      const { filter, workspace, after } = cases[name] as Case;
      const elapsed: number[] = [];
      for (let repeat = 0; repeat < REPEATS; repeat += 1) {
        elapsed.push(await milliseconds(() => repository.list(workspace, filter, { size: PAGE, after })));
      }
      return median(elapsed);
    },
    // Other activity only makes a turn slower, and the machine's speed changes from round to round.
    (turns) => Math.min(...turns),
  );
}

function pagesOf(
  times: Readonly<Record<string, readonly number[]>>,
  cases: Readonly<Record<string, Case>>,
  sizes: readonly DemoSize[],
): BySize {
  const page = (size: DemoSize, depth: Depth) => {
    const name = nameOf(size, depth);
    return { times: times[name] ?? [], items: cases[name]?.items ?? Number.NaN };
  };
  return sizes.map((size) => ({
    first: page(size, 'first'),
    middle: page(size, 'middle'),
    last: page(size, 'last'),
  }));
}

/** Counts the most buffers that a page of any filter reads at any depth. A count needs no rounds. */
async function worstBuffers(
  { say }: Setting,
  repository: AssetRepositoryTypeorm,
  database: BenchmarkDatabase,
  place: Place,
): Promise<number> {
  const filters = everyFilter();
  say(`  buffers of all ${filters.length} filters`);
  const all: number[] = [];
  for (const filter of filters) {
    for (const after of Object.values(await positionsOf(repository, place, filter, PAGE))) {
      all.push(buffersOf(await explainPage(database.api, place.workspace, filter, { size: PAGE, after })));
    }
  }
  return worstOf(all);
}

/** The exact total is a sum of counters. Its share of a page's cost does not depend on the number of assets. */
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
