import type { TestApp } from '../support/start-app';

/** A workspace that has at least two of everything that the API lists. */
export interface EveryResource {
  readonly employee: string;
  /** An id for each path that ends in `/{id}`, by the part before. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Arranges it. A new list adds its rows and, if its items have a path, the id of one. */
export async function arrangeEveryResource({ arrange }: TestApp, workspace: string): Promise<EveryResource> {
  const employee = await arrange.anEmployee(workspace);
  const computer = await arrange.anAsset(workspace, { type: 'COMPUTER' });
  await arrange.anAsset(workspace, { type: 'COMPUTER' });
  const bucket = await arrange.anAsset(workspace, { type: 'CLOUD_STORAGE_BUCKET', ownerId: employee.id });
  for (const key of ['env', 'team']) await arrange.aTagKey(workspace, key, { value: 'production' });
  return { employee: employee.id, ids: { '/v1/inventory/assets': bucket.id, '/v1/computers': computer.id } };
}
