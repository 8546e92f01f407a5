import { Sealing } from '../support/sealing';
import type { TestApp } from '../support/start-app';

/** A workspace that has at least two of everything that the API lists. */
export interface EveryResource {
  readonly employee: string;
  /** An id for each path that ends in `/{id}`, by the part before. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Arranges it. A new list adds its rows and, if its items have a path, the id of one. */
export async function arrangeEveryResource(app: TestApp, workspace: string): Promise<EveryResource> {
  const { arrange } = app;
  const employee = await arrange.anEmployee(workspace);
  const computer = await arrange.anAsset(workspace, { type: 'COMPUTER' });
  await arrange.anAsset(workspace, { type: 'COMPUTER' });
  const bucket = await arrange.anAsset(workspace, { type: 'CLOUD_STORAGE_BUCKET', ownerId: employee.id });
  for (const key of ['env', 'team']) await arrange.aTagKey(workspace, key, { value: 'production' });
  const writer = await arrange.aClient(workspace);
  for (const description of ['Reviewed', 'Reviewed again']) {
    await writer.patch(`/v1/inventory/assets/${bucket.id}`, { description });
  }
  const sealing = await Sealing.of(app);
  await sealing.seal();
  await sealing.close();
  return { employee: employee.id, ids: { '/v1/inventory/assets': bucket.id, '/v1/computers': computer.id } };
}
