import { Command } from 'commander';
import { type CommonOptions, withCommonOptions } from '../options';
import { print, table } from '../output';

export function keysCommand(): Command {
  const group = new Command('keys').description(
    'keys that sign tokens and seal cursors, and the keys of client secrets and of the audit',
  );
  withCommonOptions(group.command('init'))
    .description('make the keys that are missing, where the settings say; keys that are there stay as they are')
    .action(async (options: CommonOptions) => {
      const { makeMissingKeys } = await import('#libs/auth');
      const { loadSettingsWithoutDatabase } = await import('../operator-database.js');
      const made = await makeMissingKeys(loadSettingsWithoutDatabase());
      const text = made.length === 0 ? 'All keys are there.' : `Made:\n  ${made.join('\n  ')}`;
      await print({ json: { made }, text: () => text }, options);
    });
  withCommonOptions(group.command('list'))
    .description('the keys by their ids, newest first; the first of each use is the one in use for new ones')
    .action(async (options: CommonOptions) => {
      const { listKeys } = await import('../key-list.js');
      const { loadSettingsWithoutDatabase } = await import('../operator-database.js');
      const items = listKeys(loadSettingsWithoutDatabase());
      const text = (): Promise<string> =>
        table(
          ['use', 'kid', 'current', 'created'],
          items.map(({ use, kid, current, createdAt }) => [use, kid, current, createdAt]),
        );
      await print({ json: { items }, text }, options);
    });
  return group;
}
