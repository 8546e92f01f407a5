import type { WorkspaceId } from '#libs/kernel';
import { loadDemoAssets } from '../../support/demo-assets';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Findings, Measurement } from '../findings';
import { accessTo, arrangementAt, startApi } from '../servers';
import type { Setting } from '../setting';
import { copyAssets, createCollection, indexCollection } from './directus-collection';
import { installDirectus } from './directus-install';
import { DirectusPeer } from './directus-peer';
import { type Reader, listRequests } from './list-requests';
import { countRoundTrips } from './page-counts';
import { measureLoads } from './page-loads';
import { assertSamePages } from './same-pages';

/** The share of another workspace's assets in the same tables, which no response may contain. */
const FOREIGN_SHARE = 10;

/** Compares the API's list with that of a program that serves any table. */
export async function benchmarkPeers(setting: Setting): Promise<Findings> {
  const { cluster, sizes, say } = setting;
  const folder = await installDirectus(say);
  const database = await cluster.aDatabase();
  const { id: workspace } = await database.aWorkspace();
  const { id: foreign } = await database.aWorkspace();
  await loadDemoAssets(database.operator, workspace, sizes.peerAssets, say);
  await loadDemoAssets(database.operator, foreign, sizes.peerAssets / FOREIGN_SHARE, say);
  await database.admin.query('VACUUM ANALYZE');
  say('  making the tables of Directus and copying the assets');
  const peer = await DirectusPeer.create(folder, async (client) => {
    await createCollection(client);
    for (const one of [workspace, foreign]) await copyAssets(database, client, one);
    await indexCollection(client);
  });

  const api = await apiReader(setting, database, workspace);
  const server = await peer.serve();
  const readers = { api, directus: { server, authorization: await peer.reader(server, workspace) } };
  const pages = await listRequests(readers, sizes.peerAssets);
  const measurements: Measurement[] = [];
  for (const [subject, asked] of Object.entries(pages)) {
    await assertSamePages(subject, asked, readers);
    measurements.push(...(await measureLoads(setting, subject, asked, readers)));
  }
  for (const reader of Object.values(readers)) await reader.server.stop();
  say('  counting what each request asks of Postgres');
  measurements.push(...(await countRoundTrips(setting, pages, database, peer)));
  await peer.drop();
  await database.drop();
  return { measurements, measured: {} };
}

async function apiReader({ cluster }: Setting, database: BenchmarkDatabase, workspace: WorkspaceId): Promise<Reader> {
  const server = await startApi(cluster, database.databaseUrl);
  const arrange = arrangementAt(cluster, database, server.port);
  return { server, authorization: (await accessTo(server.port, arrange, workspace)).authorization };
}
