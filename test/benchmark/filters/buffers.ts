import type { WorkspaceId } from '#libs/kernel';
import type { BoundStatement, Database } from '#libs/platform';
import type { AssetFilter } from '../../../libs/inventory/src/domain/asset-filter';
import { assetRepositoryOn } from '../../support/asset-repository';
import type { BenchmarkDatabase } from '../benchmark-database';

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** Pages of Postgres' memory that a page of a list reads, by the statement that the API sends, in the API's session. */
export async function buffersOf(
  { api }: BenchmarkDatabase,
  workspace: WorkspaceId,
  filter: AssetFilter,
  page: { readonly size: number; readonly after: string | null },
): Promise<number> {
  const { text, values } = await statementOf(workspace, filter, page);
  const literals = values.map((value) => (value === null ? 'NULL' : `'${value}'`)).join(', ');
  const runner = api.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(`SELECT set_config('app.workspace_id', $1, true)`, [workspace]);
    await runner.query(`PREPARE page AS ${text}`);
    const rows = (await runner.query(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE page(${literals})`,
    )) as { 'QUERY PLAN': [{ Plan: Plan }] }[];
    await runner.query('DEALLOCATE page');
    await runner.commitTransaction();
    const plan = (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan;
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  } finally {
    await runner.release();
  }
}

/** What the adapter would send. */
async function statementOf(
  workspace: WorkspaceId,
  filter: AssetFilter,
  page: { readonly size: number; readonly after: string | null },
): Promise<BoundStatement> {
  let sent: BoundStatement | undefined;
  const recorder = {
    read: (_scope: unknown, [statement]: BoundStatement[]) => {
      sent = statement;
      return Promise.resolve([[]]);
    },
  } as unknown as Database;
  await assetRepositoryOn(recorder).list(workspace, filter, page);
  if (!sent) throw new Error('Nothing was sent.');
  return sent;
}
