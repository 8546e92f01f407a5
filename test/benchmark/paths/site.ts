import type { DemoSize } from '../../../libs/inventory/src/imports/domain/demo-inventory';
import type { BenchmarkDatabase } from '../benchmark-database';
import type { Cluster } from '../cluster';
import type { MeasuredProcess } from '../measured-process';
import { type Access, accessTo, applicationsOf, arrangementAt, startApi, startOther } from '../servers';

/** A server, one of its workspaces, and an application with read and write access. */
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

/** `databaseUrl` may lead through a proxy. */
export async function apiSite(cluster: Cluster, place: Place, databaseUrl = place.database.databaseUrl): Promise<Site> {
  return siteAt(cluster, place, await startApi(cluster, databaseUrl));
}

/** Bypasses row-level security, which the floor does not use. Start an API first, because it makes the keys. */
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
