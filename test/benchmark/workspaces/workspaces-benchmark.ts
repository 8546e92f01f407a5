import { type WorkspaceId, newestOf } from '#libs/kernel';
import { Database } from '#libs/platform/database';
import { assetRepositoryOn } from '../../support/asset-repository';
import type { Findings } from '../findings';
import type { Setting } from '../setting';
import { median, milliseconds } from '../statistics';
import { takeTurns } from '../turns';
import { makeSmallWorkspaces } from './small-workspaces';

const PAGES_PER_TURN = 200;

/** Compares pages of many small workspaces, a different one each time, with pages of a single one. */
export async function benchmarkWorkspaces({ cluster, sizes, say }: Setting): Promise<Findings> {
  say(`  making ${sizes.smallWorkspaces} workspaces`);
  const database = await cluster.aDatabase();
  const workspaces = await makeSmallWorkspaces(database, sizes.smallWorkspaces);
  const repository = assetRepositoryOn(new Database(database.api));
  let asked = 0;
  // The step is coprime to the number of workspaces: all have their turn, and neighbours never follow each other.
  const next = (): WorkspaceId => workspaces[((asked += 1) * 7_919) % workspaces.length] as WorkspaceId;
  const [one] = workspaces as [WorkspaceId];
  const choices = { 'one workspace': () => one, 'another each time': next };
  const times = await takeTurns(
    Object.keys(choices) as (keyof typeof choices)[],
    { rounds: sizes.rounds, turns: 3 },
    async (variant) => {
      const elapsed: number[] = [];
      for (let page = 0; page < PAGES_PER_TURN; page += 1) {
        const workspace = choices[variant]();
        elapsed.push(await milliseconds(() => repository.list(newestOf(workspace), {}, { size: 25, after: null })));
      }
      return median(elapsed);
    },
    median,
  );
  await database.drop();
  const subject = `${sizes.smallWorkspaces.toLocaleString('en')} workspaces of a few assets`;
  return {
    measurements: Object.entries(times).map(([variant, values]) => ({
      ...{ subject, variant, figure: 'p50', unit: 'ms', values },
    })),
    measured: {},
  };
}
