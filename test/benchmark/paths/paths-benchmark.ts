import { setTimeout as delay } from 'node:timers/promises';
import type { Setting } from '../setting';
import type { Findings } from '../findings';
import { type CannonadeOptions, type LoadSource, cannonade, load, middleOf } from '../load';
import { type MeasuredProcess } from '../measured-process';
import { startOther } from '../servers';
import type { Sizes } from '../sizes';
import { takeTurns } from '../turns';
import { assertSameResponses } from './fairness';
import { type Loads, type Variant, countTargets, countsOf, loadTargets, measurementsOf } from './path-findings';
import { requestCosts } from './request-costs';
import { PAGES_OF_100, ROUTES, type Route, responseTo, updates } from './routes';
import { type Place, type Site, apiSite, floorSite } from './site';

const CONNECTIONS = 8;
const TURNS = 2;
/** Requests of a turn. Each may take a second. */
const TUTORIAL_REQUESTS = 16;
/** Maximum time for sealing a backlog of audit events. */
const SETTLING_MS = 120_000;

const READS = ROUTES.filter(({ kind }) => kind === 'read');
const WRITES = ROUTES.filter(({ kind }) => kind === 'write');

/** Measures every route over HTTP with all features, against a minimal server. */
export async function benchmarkPaths(setting: Setting): Promise<Findings> {
  const { cluster, sizes } = setting;
  // Each server writes to its own database, so that neither seals or locks the other's data.
  const read: Place = { database: await cluster.inventory(), size: sizes.served };
  const written = {
    api: { database: await cluster.aDatabase(), size: sizes.served },
    floor: { database: await cluster.aDatabase(), size: sizes.served },
  } satisfies Record<string, Place>;
  const loads: Record<string, Loads> = {};
  Object.assign(loads, await measureReads(setting, read));
  Object.assign(loads, await measureWrites(setting, written));

  setting.say('  counting what each request asks of Postgres and Redis');
  const costs = {
    api: {
      ...(await requestCosts(cluster, READS, read.database.databaseUrl, (url) => apiSite(cluster, read, url))),
      ...(await requestCosts(cluster, WRITES, written.api.database.databaseUrl, (url) =>
        apiSite(cluster, written.api, url),
      )),
    },
    floor: {
      ...(await requestCosts(cluster, READS, read.database.superuserUrl, (url) => floorSite(cluster, read, url))),
      ...(await requestCosts(cluster, WRITES, written.floor.database.superuserUrl, (url) =>
        floorSite(cluster, written.floor, url),
      )),
    },
  };
  for (const { database } of Object.values(written)) await database.drop();
  return {
    measurements: [
      ...Object.entries(loads).flatMap(([route, variants]) => measurementsOf(route, variants)),
      ...Object.entries(costs).flatMap(([variant, routes]) => countsOf(variant, routes)),
    ],
    measured: { ...loadTargets(loads), ...countTargets(costs.api) },
  };
}

async function measureReads(setting: Setting, place: Place): Promise<Record<string, Loads>> {
  const { cluster } = setting;
  const api = await apiSite(cluster, place);
  const floor = await floorSite(cluster, place);
  await assertSameResponses(READS, api, floor);
  // A server in use also writes, and later reads pay for the objects that writes leave behind.
  for (const site of [api, floor]) await responseTo(site, (await updates(site))());
  const loads: Record<string, Loads> = {};
  for (const route of READS) {
    if (route.name !== 'list') {
      loads[route.name] = await measureRoute(setting, route, { api, floor });
      continue;
    }
    const tutorial = await startTutorial(setting, place);
    loads[route.name] = await measureRoute(setting, route, { api, floor, tutorial: { ...api, server: tutorial } });
    await tutorial.stop();
    await place.database.admin.query('DROP INDEX tutorial_tag, tutorial_key, tutorial_order');
  }
  Object.assign(loads, await measurePagesOf100(setting, api));
  await api.server.stop();
  await floor.server.stop();
  return loads;
}

/** The pages take turns on one server, because one is compared with another. */
async function measurePagesOf100({ cluster, sizes, say }: Setting, api: Site): Promise<Record<string, Loads>> {
  say('  a page of the list, a page of changes in turn');
  const names = PAGES_OF_100.map(({ name }) => name);
  const sources = new Map<string, LoadSource>();
  for (const route of PAGES_OF_100) {
    const source = await route.source(api);
    sources.set(route.name, source);
    await cannonade(api.server.port, source, warmUpOf(sizes, route));
  }
  const length = { seconds: sizes.secondsPerTurn };
  const loads = await takeTurns(
    names,
    { rounds: sizes.rounds, turns: TURNS },
    (name) => load(api.server, cluster, sources.get(name) ?? [], { length, connections: CONNECTIONS }),
    middleOf,
  );
  return Object.fromEntries(names.map((name) => [name, { api: loads[name] }]));
}

/** A tutorial's schema: keys of one column, and an index on the sorting column. */
async function startTutorial({ cluster }: Setting, { database }: Place): Promise<MeasuredProcess> {
  await database.admin.query(`
    CREATE INDEX tutorial_tag ON asset_tag (asset_id);
    CREATE INDEX tutorial_key ON tag_key (id);
    CREATE INDEX tutorial_order ON asset (workspace_id, created_at, id)`);
  await database.admin.query('VACUUM ANALYZE');
  return startOther('paths/tutorial-child.ts', cluster, database.superuserUrl);
}

async function measureWrites(
  setting: Setting,
  places: Readonly<Record<'api' | 'floor', Place>>,
): Promise<Record<string, Loads>> {
  const api = await apiSite(setting.cluster, places.api);
  const floor = await floorSite(setting.cluster, places.floor);
  const loads: Record<string, Loads> = {};
  for (const route of WRITES) loads[route.name] = await measureRoute(setting, route, { api, floor });
  await api.server.stop();
  await floor.server.stop();
  return loads;
}

async function measureRoute(
  { cluster, sizes, say }: Setting,
  route: Route,
  sites: Readonly<Partial<Record<Variant, Site>>>,
): Promise<Loads> {
  say(`  ${route.name}: ${Object.keys(sites).join(', ')} in turn`);
  const sources = new Map<string, Awaited<ReturnType<Route['source']>>>();
  for (const [variant, site] of Object.entries(sites)) {
    // The tutorial has no cursors and always returns its first page.
    sources.set(variant, await route.source(variant === 'tutorial' ? (sites.api ?? site) : site));
  }
  const warmUp = warmUpOf(sizes, route);
  for (const [variant, site] of Object.entries(sites)) {
    if (variant !== 'tutorial') await cannonade(site.server.port, sources.get(variant) ?? [], warmUp);
  }
  return takeTurns(
    Object.keys(sites) as Variant[],
    { rounds: sizes.rounds, turns: TURNS },
    (variant) => {
      const site = sites[variant] as Site;
      const settle = route.kind === 'write' && variant === 'api' ? () => allSealed(site) : undefined;
      const length = variant === 'tutorial' ? { requests: TUTORIAL_REQUESTS } : { seconds: sizes.secondsPerTurn };
      const options = { length, connections: CONNECTIONS, ...(settle && { settle }) };
      return load(site.server, cluster, sources.get(variant) ?? [], options);
    },
    middleOf,
  );
}

const warmUpOf = ({ warmUpRequests }: Sizes, { weight }: Route): CannonadeOptions => ({
  length: { requests: Math.max(CONNECTIONS, warmUpRequests / weight) },
  connections: CONNECTIONS,
});

/** The API's work for its updates ends when their audit events are sealed. */
async function allSealed({ database }: Site): Promise<void> {
  for (const deadline = Date.now() + SETTLING_MS; ; await delay(100)) {
    const { rowCount } = await database.admin.query('SELECT 1 FROM audit_event WHERE sequence IS NULL LIMIT 1');
    if (rowCount === 0) return;
    if (Date.now() > deadline) throw new Error('Audit events remain unsealed.');
  }
}
