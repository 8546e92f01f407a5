import type { DataSource } from 'typeorm';
import type { WorkspaceId } from '#libs/kernel';
import { ChangeFeed } from '#libs/platform/changes';
import { type BoundStatement, Database } from '#libs/platform/database';
import type { ComputerFilter } from '../../libs/computers/src/domain/computer-filter';
import { ComputerDirectoryTypeorm } from '../../libs/computers/src/typeorm/computer-directory.typeorm';
import type { AssetFilter } from '../../libs/inventory/src/assets/domain/asset-filter';
import { assetRepositoryOn } from './asset-repository';

/** EXPLAIN's output for an executed node. */
export interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Node Type': string;
  readonly Plans?: readonly Plan[];
}

interface AssetPage {
  readonly size: number;
  readonly after: string | null;
}

/** Explains the statement for a page of a list, in a session of `api` with the API's settings. */
export async function explainPage(
  api: DataSource,
  workspace: WorkspaceId,
  filter: AssetFilter,
  page: AssetPage,
): Promise<Plan> {
  return explain(api, workspace, await statementOf(workspace, filter, page));
}

/** Explains the statements for a page of computers: those that learn how many match, and the one that reads it. */
export async function explainComputers(
  api: DataSource,
  workspace: WorkspaceId,
  filter: ComputerFilter,
  page: AssetPage,
): Promise<Plan[]> {
  const sent: BoundStatement[] = [];
  const database = new Database(api);
  const recorder = {
    read: async (scope: { workspaceId: WorkspaceId }, [statement]: [BoundStatement]) => {
      sent.push(statement);
      return database.read(scope, [statement], 'newest');
    },
  } as unknown as Database;
  await new ComputerDirectoryTypeorm(recorder, new ChangeFeed(recorder)).list(workspace, filter, page);
  const plans: Plan[] = [];
  for (const statement of sent) plans.push(await explain(api, workspace, statement));
  return plans;
}

/** Explains one statement, in a session of `api` with the API's settings. */
export async function explain(
  api: DataSource,
  workspace: WorkspaceId,
  { text, values }: BoundStatement,
): Promise<Plan> {
  const literals = values.map((value) => (value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`)).join(', ');
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
    return (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan;
  } finally {
    await runner.release();
  }
}

/** Pages of Postgres' memory that were read, from cache or disk. */
export const buffersOf = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

/** The statement that the adapter sends. */
async function statementOf(workspace: WorkspaceId, filter: AssetFilter, page: AssetPage): Promise<BoundStatement> {
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
