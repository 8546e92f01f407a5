import { Command } from 'commander';
import type { CountersStatus } from '../counters-status';
import { CommandFailed } from '../command-faults';
import { withWriteOptions } from '../operator-name';
import type { CommonOptions } from '../options';
import { card, print, table } from '../output';

interface StatusOptions extends CommonOptions {
  readonly deep?: boolean;
}

export function statusCommand(): Command {
  return withWriteOptions<StatusOptions>(new Command('status'), ({ deep }) => deep ?? false)
    .description('check that both roles reach the database and that it is up to date; exit code 1 when not')
    .option('--deep', 'count every asset; repair wrong totals and filters of computers')
    .action(async (options: StatusOptions) => {
      const { inspect } = await import('../database-status.js');
      const status = await inspect(options.deep ?? false);
      const { server, roles, migrations, workspaces, applications, assets, history, counters, problems } = status;
      const text = async (): Promise<string> => {
        const shown = await card({
          server,
          'role of MIGRATION_DATABASE_URL': roles.owner,
          'role of DATABASE_URL': roles.runtime,
          'migrations applied': migrations.applied.length,
          'migrations pending': migrations.pending.length > 0 ? migrations.pending : 'none',
          workspaces,
          applications,
          assets,
          'former states': history?.rows ?? null,
          'bytes of history': history?.bytes ?? null,
        });
        return counters ? `${shown}\n${await describe(counters)}` : shown;
      };
      await print({ json: status, text }, options);
      if (problems.length > 0) throw new CommandFailed(problems.join(' '));
    });
}

async function describe(counters: CountersStatus): Promise<string> {
  const { workspaces, assets, wrong, wrongValues, wrongComputers, repaired } = counters;
  const counted = `Full count: ${assets.toLocaleString('en')} assets, ${workspaces} workspaces.`;
  if (repaired === 0) return `${counted} Every counter is right.`;
  const lines = [`${counted} Repaired ${repaired} wrong counters:`];
  if (wrong.length > 0) {
    const rows = wrong.map((one) => [one.workspace, one.subKey, one.facet, one.counted, one.actual]);
    lines.push(await table(['workspace', 'sub key', 'facet', 'counter', 'assets'], rows));
  }
  if (wrongValues.length > 0) {
    const rows = wrongValues.map((one) => [one.workspace, one.filter, one.value, one.counted, one.actual]);
    lines.push(await table(['workspace', 'filter', 'value', 'counter', 'assets'], rows));
  }
  if (wrongComputers > 0) lines.push(`Filters found ${wrongComputers} computers wrongly.`);
  return lines.join('\n');
}
