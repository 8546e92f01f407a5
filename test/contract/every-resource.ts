import type { ApiClient } from '../support/api-client';
import { Sealing } from '../support/sealing';
import type { TestApp } from '../support/start-app';
import { type Contract, operationsOf } from './contract-document';

/** A completed import of a source that is watched. */
const AN_IMPORT = `
  WITH watched AS (
    INSERT INTO import_freshness (workspace_id, source, stale_after_seconds) VALUES ($1, $2, 93600))
  INSERT INTO import_run (workspace_id, id, source, ended_at, outcome, who, options, files, counts, errors, warnings)
  VALUES ($1, gen_random_uuid(), $2, now(), 'COMPLETED', 'ops', '{}', '[]', $3, '[]', '[]')`;
const COUNTS = {
  ...{ read: 3, created: 1, updated: 1, unchanged: 0, hidden: 0, failed: 1, skipped: 0, warned: 0, rekeyed: 0 },
};

/** A workspace that has at least two of everything that the API lists. */
export interface EveryResource {
  readonly employee: string;
  /** An id for each path with `/{id}`, by the part before. */
  readonly ids: Readonly<Record<string, string>>;
  /** A body of each update, by its path. */
  readonly bodies: Readonly<Record<string, object>>;
}

/** Arranges it. A new list adds its rows and, if its items have a path, the id of one. A new update adds a body. */
export async function arrangeEveryResource(app: TestApp, workspace: string): Promise<EveryResource> {
  const { arrange } = app;
  const employee = await arrange.anEmployee(workspace);
  const computer = await arrange.anAsset(workspace, { type: 'COMPUTER' });
  await arrange.anAsset(workspace, { type: 'COMPUTER' });
  const bucket = await arrange.anAsset(workspace, { type: 'CLOUD_STORAGE_BUCKET', ownerId: employee.id });
  for (const key of ['env', 'team']) await arrange.aTagKey(workspace, key, { value: 'production' });
  for (const source of ['hr', 'mdm']) await arrange.change(workspace, AN_IMPORT, [workspace, source, COUNTS]);
  const writer = await arrange.aClient(workspace);
  for (const description of ['Reviewed', 'Reviewed again']) {
    for (const { id } of [bucket, computer]) await writer.patch(`/v1/inventory/assets/${id}`, { description });
  }
  await Sealing.once(app);
  const ids = { '/v1/inventory/assets': bucket.id, '/v1/computers': computer.id };
  const bodies = {
    '/v1/inventory/assets': { ids: [bucket.id], patch: { classification: 'PUBLIC' } },
    '/v1/inventory/assets/{id}': { description: 'Reviewed' },
  };
  return { employee: employee.id, ids, bodies };
}

/** Returns a cursor of each list, by its operation. `ids` are those of every resource. */
export async function cursorsOf(
  contract: Contract,
  client: ApiClient,
  ids: EveryResource['ids'],
): Promise<Readonly<Record<string, string>>> {
  const cursors: Record<string, string> = {};
  for (const { path, operation } of operationsOf(contract)) {
    if (!operation.operationId?.startsWith('list')) continue;
    const id = ids[path.replace(/\/\{id\}.*/, '')] ?? '';
    const { endCursor } = (await client.page(path.replace('{id}', id), { pageSize: '1' })).pageInfo;
    cursors[operation.operationId] = endCursor as string;
  }
  return cursors;
}
