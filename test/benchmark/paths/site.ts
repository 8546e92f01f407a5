import type { DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Cluster } from '../cluster';
import type { MeasuredProcess } from '../measured-process';
import { type Access, accessTo, applicationsOf, arrangementAt, startApi, startOther } from '../servers';

/** A server, a workspace that it serves, and somebody who may read and write there. */
export interface Site extends Access {
  readonly server: MeasuredProcess;
  readonly database: BenchmarkDatabase;
  readonly workspace: string;
  /** More applications, each without a token. */
  readonly applications: readonly Access['application'][];
}

export interface Place {
  readonly database: BenchmarkDatabase;
  readonly size: DemoSize;
}

/** `databaseUrl` may lead to the database by way of a proxy. */
export async function apiSite(cluster: Cluster, place: Place, databaseUrl = place.database.databaseUrl): Promise<Site> {
  return siteAt(cluster, place, await startApi(cluster, databaseUrl));
}

/** Past row-level security, of which the floor knows nothing. After an API, which makes the keys. */
export async function floorSite(
  cluster: Cluster,
  place: Place,
  databaseUrl = place.database.superuserUrl,
): Promise<Site> {
  return siteAt(cluster, place, await startOther('paths/floor/floor-child.ts', cluster, databaseUrl));
}

async function siteAt(cluster: Cluster, { database, size }: Place, server: MeasuredProcess): Promise<Site> {
  const arrange = arrangementAt(cluster, database, server.port);
  const workspace = await database.workspace(size);
  const access = await accessTo(server.port, arrange, workspace);
  const applications = await applicationsOf(arrange, workspace);
  return { ...access, server, database, workspace, applications };
}
