import { Command, Option } from 'commander';
import type { DemoSize } from '#libs/inventory/operators';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug } from '../options';
import { card, print } from '../output';

const WORKSPACE = { slug: 'demo', name: 'Demo' };
/** Written out, so that help loads no library. The type checks that the list is complete. */
const SIZES = Object.keys({ S: true, M: true, L: true, XL: true } satisfies Record<DemoSize, true>);

export function demoCommand(): Command {
  const group = new Command('demo').description('a realistic inventory to try the API with');
  withWriteOptions(group.command('load'))
    .description('fill a workspace, created if missing; the same size always gives the same assets')
    .option('--workspace <slug>', 'the workspace', parseSlug, WORKSPACE.slug)
    .addOption(
      new Option('--size <size>', 'about 500, 10,000, 1,000,000 or 10,000,000 assets').choices(SIZES).default('S'),
    )
    .action(load);
  return group;
}

interface LoadOptions extends CommonOptions {
  readonly workspace: string;
  readonly size: DemoSize;
}

async function load({ workspace, size, ...options }: LoadOptions): Promise<void> {
  const { operate, workspaceOf } = await import('../operator.js');
  const { AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  const { DemoService, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const report = await operate([AuthOperatorModule, InventoryOperatorModule], async (operator) => {
    const name = workspace === WORKSPACE.slug ? WORKSPACE.name : workspace;
    await operator.get(Workspaces).create(workspace, name);
    const { id } = await workspaceOf(operator, workspace);
    return operator.withProgress('assets', (show) =>
      operator.get(DemoService).load(id, size, ({ done, total }) => show(done, done / total)),
    );
  });
  const { read, created, updated, unchanged } = report;
  const text = (): Promise<string> => card({ workspace, size, read, created, updated, unchanged });
  await print({ json: { workspace, size, ...report }, text }, options);
}
