import { Command } from 'commander';
import { CommandFailed } from '../command-faults';
import { type CommonOptions, withCommonOptions } from '../options';
import { card, print } from '../output';

export function statusCommand(): Command {
  return withCommonOptions(new Command('status'))
    .description('whether the database is reachable with both roles and up to date; exit code 1 when not')
    .action(async (options: CommonOptions) => {
      const { inspect } = await import('../database-status.js');
      const status = await inspect();
      const { server, roles, migrations, workspaces, applications, assets, problems } = status;
      const text = (): Promise<string> =>
        card({
          server,
          'role of MIGRATION_DATABASE_URL': roles.owner,
          'role of DATABASE_URL': roles.runtime,
          'migrations applied': migrations.applied.length,
          'migrations pending': migrations.pending.join('\n') || 'none',
          workspaces,
          applications,
          assets,
        });
      await print({ json: status, text }, options);
      if (problems.length > 0) throw new CommandFailed(problems.join(' '));
    });
}
