import { Command } from 'commander';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug } from '../options';
import { print } from '../output';
import { parseSince } from '../since-option';

interface PurgeOptions extends CommonOptions {
  readonly workspace: string;
  /** Milliseconds since 1970. */
  readonly removedBefore: number;
}

export function assetsCommand(): Command {
  const group = new Command('assets').description('the assets of a workspace');
  withWriteOptions(group.command('purge'))
    .description('delete hidden and deleted assets for good; cannot be undone')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--removed-before <date>', 'removed before this time, such as 2026-01-31, or 90d ago', parseSince)
    .action(purge);
  return group;
}

async function purge({ workspace, removedBefore, ...options }: PurgeOptions): Promise<void> {
  const before = new Date(removedBefore);
  await confirm(`Delete the assets of "${workspace}" that were removed before ${before.toISOString()}?`, options);
  const { operateIn } = await import('../operator.js');
  const { InventoryOperatorModule, RemovedAssets } = await import('#libs/inventory/operators');
  const purged = await operateIn(workspace, [InventoryOperatorModule], (operator, { id }) =>
    operator.withProgress('assets', (show) =>
      operator.get(RemovedAssets).purge(id, before, (assets) => show(assets, null)),
    ),
  );
  await print({ json: { workspace, purged }, text: () => `Deleted ${purged} removed assets.` }, options);
}
