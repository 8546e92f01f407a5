import { type WorkspaceId, newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { DEMO_SIZES, type DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import type { AssetRepositoryTypeorm } from '../../../libs/inventory/src/assets/typeorm/asset-repository.typeorm';
import { assetRepositoryOn } from '../../support/asset-repository';
import { buffersOf, explainPage } from '../../support/page-plan';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings, Measurement } from '../findings';
import type { Setting } from '../setting';
import { formatNumber, median, milliseconds } from '../statistics';
import { takeTurns } from '../turns';
import { DEPTHS, type Depth, type Place, type ReadPage, placeOf, positionsOf } from './depths';
import { everyFilter } from './every-filter';
import { ExactValues } from './exact-filters';
import { type MeasuredList, listsOfAssets, listsOfComputers } from './measured-lists';
import { RandomPages } from './random-pages';
import { type BySize, ratioAtRandom, ratioByDepth, ratioBySize, worstOf } from './ratios';

const PAGE = 25;
const REPEATS = 40;
/** A filter whose cost grows with its matches takes seconds in the largest workspace: a turn ends then, after three pages. */
const TURN_MS = 500;
const FEWEST_REPEATS = 3;
const TURNS = 4;

interface Case {
  readonly read: ReadPage;
  readonly buffers: number;
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
  for (const list of [...listsOfAssets(database, values), ...listsOfComputers(database, values)]) {
    const { subject, hasTarget, assetFilterOf } = list;
    const cases = await casesOf(list, places);
    const times = await measure(cases, sizes.rounds);
    for (const [name, { size, depth, buffers }] of Object.entries(cases)) {
      const variant = `${describeSize(size)}, ${depth} page`;
      if (hasTarget) all.buffers.push(buffers);
      measurements.push({ subject, variant, figure: 'p50', unit: 'ms', values: times[name] ?? [] });
      measurements.push({ subject, variant, figure: 'buffers', unit: '', values: [buffers] });
    }
    const random = assetFilterOf ? await randomPages.time(assetFilterOf, PAGE, sizes.rounds) : {};
    for (const [size, values] of Object.entries(random)) {
      const variant = `${describeSize(size as DemoSize)}, random pages`;
      measurements.push({ subject, variant, figure: 'p50', unit: 'ms', values });
    }
    const pages = pagesOf(times, cases, sizes.workspaces);
    const [bySize, byDepth] = [ratioBySize(pages), ratioByDepth(pages)];
    const atRandom = ratioAtRandom(sizes.workspaces.map((size) => random[size]));
    if (hasTarget) {
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

const describeSize = (size: DemoSize): string => `${DEMO_SIZES[size].toLocaleString('en')} assets`;

const nameOf = (size: DemoSize, depth: Depth): string => `${size} ${depth}`;

async function casesOf(list: MeasuredList, places: ReadonlyMap<DemoSize, Place>): Promise<Record<string, Case>> {
  const cases: Record<string, Case> = {};
  for (const [size, place] of places) {
    const { read, buffers } = list.pagesOf(place.workspace, size);
    const positions = await positionsOf(read, place, PAGE);
    for (const depth of DEPTHS) {
      const page = { size: PAGE, after: positions[depth] };
      const { items } = await read(page);
      const { after } = page;
      cases[nameOf(size, depth)] = { read, buffers: await buffers(page), size, depth, after, items: items.length };
    }
  }
  return cases;
}

/** Returns the smallest median of each round's turns, by case. */
function measure(cases: Readonly<Record<string, Case>>, rounds: number): Promise<Record<string, number[]>> {
  return takeTurns(
    Object.keys(cases),
    { rounds, turns: TURNS },
    async (name) => {
      const { read, after } = cases[name] as Case;
      const elapsed: number[] = [];
      const end = Date.now() + TURN_MS;
      while (elapsed.length < REPEATS && (elapsed.length < FEWEST_REPEATS || Date.now() < end)) {
        elapsed.push(await milliseconds(() => read({ size: PAGE, after })));
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
    const read: ReadPage = (page) => repository.list(newestOf(place.workspace), filter, page);
    for (const after of Object.values(await positionsOf(read, place, PAGE))) {
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
  const { totalCount } = await repository.list(newestOf(workspace), {}, { size: 1, after: null });
  const page = await milliseconds(() => repository.list(newestOf(workspace), {}, { size: PAGE, after: null }));
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
