import { Command } from 'commander';
import type { Workspace, Workspaces } from '#libs/auth/operators';
import { CommandFailed } from '../command-faults';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseName, parseSlug, withCommonOptions } from '../options';
import { card, print, table } from '../output';
import { workspaceDeletionCommand } from './workspace-deletion';

export function workspacesCommand(): Command {
  const group = new Command('workspaces').description('tenants: each has its own assets and applications');
  withWriteOptions(group.command('create'))
    .description('create a workspace')
    .argument('<slug>', 'its short name: lower-case letters, digits and inner hyphens', parseSlug)
    .requiredOption('--name <name>', 'its name for people', parseName)
    .action(async (slug: string, options: CommonOptions & { name: string }) => {
      const workspace = await withWorkspaces((workspaces) => workspaces.create(slug, options.name));
      if (workspace === null) throw new CommandFailed(`The slug "${slug}" is taken. Choose another.`);
      await print({ json: workspaceJson(workspace), text: () => card({ ...workspaceJson(workspace) }) }, options);
    });
  withCommonOptions(group.command('list'))
    .description('list all workspaces by slug')
    .action(async (options: CommonOptions) => {
      const workspaces = await withWorkspaces((service) => service.list());
      await print(
        {
          json: { items: workspaces.map(workspaceJson) },
          text: () =>
            table(
              ['slug', 'name', 'id', 'created'],
              workspaces.map(({ slug, name, id, createdAt }) => [slug, name, id, createdAt]),
            ),
        },
        options,
      );
    });
  group.addCommand(workspaceDeletionCommand());
  return group;
}

async function withWorkspaces<Result>(work: (workspaces: Workspaces) => Promise<Result>): Promise<Result> {
  const { operate } = await import('../operator.js');
  const { AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  return operate([AuthOperatorModule], (operator) => work(operator.get(Workspaces)));
}

function workspaceJson({ id, slug, name, createdAt }: Workspace) {
  return { id, slug, name, createdAt };
}
