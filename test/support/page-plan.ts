import type { DataSource } from 'typeorm';
import { type WorkspaceId, newestOf } from '#libs/kernel';
import type { BoundStatement, Database } from '#libs/platform/database';
import type { ComputerFilter } from '../../libs/computers/src/domain/computer-filter';
import { COMPUTER_LIST, wantedComputers } from '../../libs/computers/src/typeorm/computer-list';
import type { AssetFilter } from '../../libs/inventory/src/assets/domain/asset-filter';
import { ASSET_LIST, wantedAssets } from '../../libs/inventory/src/assets/typeorm/asset-list';

/** EXPLAIN's output for an executed node. */
export interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

interface AssetPage {
  readonly size: number;
  readonly after: string | null;
}

/** Explains the statement for a page of assets. */
export const explainPage = (api: DataSource, workspace: WorkspaceId, filter: AssetFilter, page: AssetPage) =>
  explainList(api, workspace, (database) => ASSET_LIST.page(database, newestOf(workspace), wantedAssets(filter), page));

/** Explains the statement for a page of computers. */
export const explainComputers = (api: DataSource, workspace: WorkspaceId, filter: ComputerFilter, page: AssetPage) =>
  explainList(api, workspace, (database) =>
    COMPUTER_LIST.page(database, newestOf(workspace), wantedComputers(filter), page),
  );

/** Explains the last statement that a list sends, behind the others, in a session of `api` with the API's settings. */
async function explainList(
  api: DataSource,
  workspace: WorkspaceId,
  read: (database: Database) => Promise<unknown>,
): Promise<Plan> {
  let sent: readonly BoundStatement[] = [];
  const recorder = {
    read: (_scope: unknown, statements: readonly BoundStatement[]) => {
      sent = statements;
      return Promise.resolve([[]]);
    },
  } as unknown as Database;
  await read(recorder);
  const statement = sent.at(-1);
  if (!statement) throw new Error('Nothing was sent.');
  return explain(api, workspace, statement, sent.slice(0, -1));
}

/** Explains one statement, in a session of `api` with the API's settings. */
export async function explain(...statement: Parameters<typeof explainOnce>): Promise<Plan> {
  const plans = [await explainOnce(...statement), await explainOnce(...statement), await explainOnce(...statement)];
  // Much that others change on the server empties a session's cache of the catalogs, and reading them again counts.
  return plans.reduce((least, plan) => (buffersOf(plan) < buffersOf(least) ? plan : least));
}

async function explainOnce(
  api: DataSource,
  workspace: WorkspaceId,
  { text, values }: BoundStatement,
  before: readonly BoundStatement[] = [],
): Promise<Plan> {
  const literals = values.map((value) => (value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`)).join(', ');
  const runner = api.createQueryRunner();
  try {
    await runner.startTransaction();
    await runner.query(`SELECT set_config('app.workspace_id', $1, true)`, [workspace]);
    for (const first of before) await runner.query(first.text, [...first.values]);
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
