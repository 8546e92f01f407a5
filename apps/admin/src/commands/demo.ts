import { Command, Option } from 'commander';
import type { DemoSize } from '#libs/inventory/operators';
import { CommandFailed, WrongUsage } from '../command-faults';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug } from '../options';
import { card, print } from '../output';
import { reportJson } from './import';

const WORKSPACE = { slug: 'demo', name: 'Demo' };
/** Written out, so that help loads no library. The type checks that the list is complete. */
const SIZES = Object.keys({ S: true, M: true, L: true, XL: true } satisfies Record<DemoSize, true>);

export function demoCommand(): Command {
  const group = new Command('demo').description('a realistic inventory to try the API with');
  withWriteOptions(group.command('load'))
    .description('fill a workspace that holds nothing but the demo; the same size always gives the same assets')
    .option('--workspace <slug>', 'the workspace; only "demo" is created if missing', parseSlug, WORKSPACE.slug)
    .addOption(
      new Option('--size <size>', 'about 500, 10,000, 1,000,000 or 10,000,000 assets').choices(SIZES).default('S'),
    )
    .option('--yes-into-production', 'required when NODE_ENV=production')
    .action(load);
  return group;
}

interface LoadOptions extends CommonOptions {
  readonly workspace: string;
  readonly size: DemoSize;
  readonly yesIntoProduction?: boolean;
}

async function load({ workspace, size, yesIntoProduction, ...options }: LoadOptions): Promise<void> {
  const { loadSettingsWithoutDatabase } = await import('#libs/platform/config');
  if (loadSettingsWithoutDatabase(process.env).production && yesIntoProduction !== true) {
    throw new WrongUsage('The demo is made-up data. With NODE_ENV=production, add --yes-into-production.');
  }
  const { operate, workspaceOf } = await import('../operator.js');
  const { AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  const { DemoHistory, DemoService, InventoryOperatorModule, OtherInventory } =
    await import('#libs/inventory/operators');
  const report = await operate([AuthOperatorModule, InventoryOperatorModule], async (operator) => {
    if (workspace === WORKSPACE.slug) await operator.get(Workspaces).create(workspace, WORKSPACE.name);
    const { id } = await workspaceOf(operator, workspace);
    if (await operator.get(OtherInventory).exists(id)) {
      throw new CommandFailed(`The workspace "${workspace}" holds more than the demo. Name one of its own.`);
    }
    const loaded = await operator.withProgress('assets', (show) =>
      operator.get(DemoService).load(id, size, ({ done, total }) => show(done, done / total)),
    );
    await operator.get(DemoHistory).make(id);
    return loaded;
  });
  const { read, created, updated, unchanged } = report;
  const text = (): Promise<string> => card({ workspace, size, read, created, updated, unchanged });
  await print({ json: { workspace, size, ...reportJson(report) }, text }, options);
}
