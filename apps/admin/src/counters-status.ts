import type { CounterDifference, ValueDifference } from '#libs/inventory/operators';
import type { Interruption } from './interruption';
import type { OperatorDatabase } from './operator-database';

type OfWorkspace<Difference> = Difference & {
  /** The slug of the workspace. */
  readonly workspace: string;
};

/** Result of comparing the counters with a full count of the assets. */
export interface CountersStatus {
  readonly workspaces: number;
  /** Assets that clients see, counted row by row. */
  readonly assets: number;
  readonly wrong: readonly OfWorkspace<CounterDifference>[];
  readonly wrongValues: readonly OfWorkspace<ValueDifference>[];
  /** Computers that filters of their checks found wrongly or not at all. */
  readonly wrongComputers: number;
  /** Number of corrected counters and computers. */
  readonly repaired: number;
}

/** Compares and repairs one workspace after the other. After an interruption, finished workspaces stay repaired. */
export async function reconcileCounters(
  database: OperatorDatabase,
  interruption: Interruption,
): Promise<CountersStatus> {
  const { operateOn } = await import('./operator.js');
  const { AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  const { AssetCounters, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const modules = [AuthOperatorModule, InventoryOperatorModule];
  return operateOn(database, interruption, modules, async (operator) => {
    const workspaces = await operator.get(Workspaces).list();
    const wrong: CountersStatus['wrong'][number][] = [];
    const wrongValues: CountersStatus['wrongValues'][number][] = [];
    let [assets, wrongComputers] = [0, 0];
    await operator.withProgress('assets counted', async (show) => {
      for (const [done, { id, slug: workspace }] of workspaces.entries()) {
        show(assets, done / workspaces.length);
        const counted = await operator.get(AssetCounters).reconcile(id);
        operator.checkInterrupted();
        assets += counted.assets;
        wrongComputers += counted.wrongComputers;
        wrong.push(...counted.wrong.map((one) => ({ workspace, ...one })));
        wrongValues.push(...counted.wrongValues.map((one) => ({ workspace, ...one })));
      }
      show(assets, 1);
    });
    const repaired = wrong.length + wrongValues.length + wrongComputers;
    return { workspaces: workspaces.length, assets, wrong, wrongValues, wrongComputers, repaired };
  });
}
