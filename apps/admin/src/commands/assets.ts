import { Command, InvalidArgumentError } from 'commander';
import { MAX_EXTERNAL_ID_BYTES, isExternalId } from '#libs/kernel';
import { CommandFailed } from '../command-faults';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug, parseSource } from '../options';
import { print } from '../output';
import { parseSince } from '../since-option';
import { visibleText } from '../visible-text';

interface PurgeOptions extends CommonOptions {
  readonly workspace: string;
  /** Milliseconds since 1970. */
  readonly removedBefore: number;
}

interface RekeyOptions extends CommonOptions {
  readonly workspace: string;
  readonly source: string;
  readonly from: string;
  readonly to: string;
}

export function assetsCommand(): Command {
  const group = new Command('assets').description('the assets of a workspace');
  withWriteOptions(group.command('purge'))
    .description('delete hidden and deleted assets for good; cannot be undone')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--removed-before <date>', 'removed before this time, such as 2026-01-31, or 90d ago', parseSince)
    .action(purge);
  withWriteOptions(group.command('rekey'))
    .description('give an asset another externalId; it stays the same asset')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--source <name>', 'the source of the asset', parseSource)
    .requiredOption('--from <externalId>', 'its externalId now')
    .requiredOption('--to <externalId>', 'its new externalId, which no asset of the source has', parseExternalId)
    .action(rekey);
  return group;
}

function parseExternalId(value: string): string {
  if (isExternalId(value)) return value;
  throw new InvalidArgumentError(`An externalId has 1 to ${MAX_EXTERNAL_ID_BYTES} bytes.`);
}

async function rekey({ workspace, source, from, to, ...options }: RekeyOptions): Promise<void> {
  const { operateIn } = await import('../operator.js');
  const { AssetRekey, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const refused = await operateIn(workspace, [InventoryOperatorModule], (operator, { id }) =>
    operator.get(AssetRekey).rekey(id, source, { from, to }),
  );
  const named = (externalId: string): string => `externalId "${visibleText(externalId)}"`;
  if (refused === 'missing') throw new CommandFailed(`The source has no asset with ${named(from)}.`);
  if (refused === 'taken') throw new CommandFailed(`Another asset of the source has ${named(to)}; hidden ones count.`);
  await print({ json: { rekeyed: 1 }, text: () => 'The asset has its new externalId.' }, options);
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
