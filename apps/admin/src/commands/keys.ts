import { Command, InvalidArgumentError } from 'commander';
import { CommandFailed } from '../command-faults';
import { confirm } from '../confirmation';
import { type CommonOptions, withCommonOptions } from '../options';
import { print, table } from '../output';

export function keysCommand(): Command {
  const group = new Command('keys').description(
    'keys that sign tokens and seal cursors, and the keys of client secrets and of the audit',
  );
  withCommonOptions(group.command('init'))
    .description('make the keys that are missing, where the settings say; keys that are there stay as they are')
    .action(init);
  withCommonOptions(group.command('list'))
    .description(
      'the keys by their ids, newest first; new tokens and cursors are made with the current one of each use',
    )
    .action(list);
  group.addCommand(rotateCommand());
  withCommonOptions(group.command('remove'))
    .description(
      'remove a key in an emergency; every instance refuses its tokens or cursors within 60 seconds; the last key of its ' +
        'use stays',
    )
    .argument('<kid>', 'the id of the key, as list shows it', parseKid)
    .action(remove);
  return group;
}

function rotateCommand(): Command {
  const group = new Command('rotate').description(
    'make a new key; every instance accepts it before one uses it, and earlier keys are accepted until they are removed',
  );
  withCommonOptions(group.command('signing'))
    .description('make a new key, which signs tokens from 60 seconds on')
    .action((options: CommonOptions) => rotate('signing', options));
  withCommonOptions(group.command('cursor'))
    .description('make a new key, which seals page cursors from 60 seconds on')
    .action((options: CommonOptions) => rotate('cursor', options));
  return group;
}

async function init(options: CommonOptions): Promise<void> {
  const { makeMissingKeys } = await import('#libs/auth/operators');
  const made = await makeMissingKeys(await settings());
  const text = made.length === 0 ? 'All keys are there.' : `Made:\n  ${made.join('\n  ')}`;
  await print({ json: { made }, text: () => text }, options);
}

async function list(options: CommonOptions): Promise<void> {
  const { listKeys } = await import('../key-list.js');
  const items = await listKeys(await settings());
  const text = (): Promise<string> =>
    table(
      ['use', 'kid', 'current', 'created'],
      items.map(({ use, kid, current, createdAt }) => [use, kid, current, createdAt]),
    );
  await print({ json: { items }, text }, options);
}

async function rotate(use: 'signing' | 'cursor', options: CommonOptions): Promise<void> {
  const { rotateSigningKey } = await import('#libs/auth/operators');
  const { SystemClock } = await import('#libs/platform/config');
  const { rotateCursorKey, usedFrom } = await import('#libs/platform/keys');
  const { signingKeysDir, cursorKeysFile } = await settings();
  const clock = new SystemClock();
  const made =
    use === 'signing' ? await rotateSigningKey(signingKeysDir, clock) : await rotateCursorKey(cursorKeysFile, clock);
  const { kid } = made;
  const createdAt = new Date(made.createdAt).toISOString();
  const from = new Date(usedFrom(made.createdAt)).toISOString();
  const what = use === 'signing' ? 'New tokens are signed' : 'New page cursors are sealed';
  const text = `Made the ${use} key ${kid}.\n${what} with it from ${from} on; the keys before are still accepted.`;
  await print({ json: { use, kid, createdAt, usedFrom: from }, text: () => text }, options);
}

async function remove(kid: string, options: CommonOptions): Promise<void> {
  const { removeSigningKey } = await import('#libs/auth/operators');
  const { LastKey, removeCursorKey } = await import('#libs/platform/keys');
  const { listKeys } = await import('../key-list.js');
  const places = await settings();
  const items = await listKeys(places);
  const use = items.find((item) => item.kid === kid)?.use;
  if (use === undefined) throw unknown(kid);
  if (items.filter((item) => item.use === use).length === 1) throw new LastKey(use, kid);

  const lost = use === 'signing' ? 'Tokens signed' : 'Page cursors sealed';
  await confirm(`Remove the ${use} key ${kid}? ${lost} with it are refused from then on.`, options);
  const removed =
    use === 'signing'
      ? await removeSigningKey(places.signingKeysDir, kid)
      : await removeCursorKey(places.cursorKeysFile, kid);
  if (!removed) throw unknown(kid);
  const text = `Removed the ${use} key ${kid}. Every instance refuses its tokens or cursors within 60 seconds.`;
  await print({ json: { use, kid, removed }, text: () => text }, options);
}

async function settings() {
  const { loadSettingsWithoutDatabase } = await import('../operator-database.js');
  return loadSettingsWithoutDatabase();
}

const unknown = (kid: string): CommandFailed => new CommandFailed(`There is no signing or cursor key "${kid}".`);

function parseKid(value: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new InvalidArgumentError('A key id has 1 to 64 letters, digits, hyphens and underscores.');
}
