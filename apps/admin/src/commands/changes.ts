import { Command } from 'commander';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug } from '../options';
import { print } from '../output';

export function changesCommand(): Command {
  const group = new Command('changes').description('the change feeds of a workspace');
  withWriteOptions(group.command('restart'))
    .description('refuse every cursor of the change feeds: every reader begins again')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .action(restart);
  return group;
}

async function restart({ workspace, ...options }: CommonOptions & { readonly workspace: string }): Promise<void> {
  await confirm(`Have every reader of the change feeds of "${workspace}" begin again?`, options);
  const { operateIn } = await import('../operator.js');
  const { FeedRestart } = await import('#libs/platform/changes');
  const { Database } = await import('#libs/platform/database');
  const sequence = await operateIn(workspace, [], (operator, { id }) =>
    new FeedRestart(operator.get(Database)).restart(id),
  );
  const text = () => `Readers of the change feeds of "${workspace}" begin again.`;
  await print({ json: { workspace, sequence: Number(sequence) }, text }, options);
}
