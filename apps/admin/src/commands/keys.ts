import { Command, InvalidArgumentError } from 'commander';
import type { KeyUse } from '#libs/platform/keys';
import { CommandFailed } from '../command-faults';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, withCommonOptions } from '../options';
import { print, table } from '../output';

/** Texts of a command about each use. */
const WORDS: Readonly<Record<KeyUse, { work: string; rotated: string; question: string; removed: string }>> = {
  signing: {
    work: 'signs tokens',
    rotated: 'New tokens are signed',
    question: 'Tokens signed with it are refused from then on.',
    removed: 'Every instance refuses its tokens within 60 seconds.',
  },
  cursor: {
    work: 'seals page cursors',
    rotated: 'New page cursors are sealed',
    question: 'Page cursors sealed with it are refused from then on.',
    removed: 'Every instance refuses its cursors within 60 seconds.',
  },
  checkpoint: {
    work: 'signs audit checkpoints',
    rotated: 'New checkpoints are signed',
    question: 'The key set no longer verifies checkpoints signed with it.',
    removed: 'No instance publishes or uses it after 60 seconds.',
  },
};

export function keysCommand(): Command {
  const group = new Command('keys').description('keys of tokens, cursors, client secrets and the audit');
  withWriteOptions(group.command('init'))
    .description('create missing keys where the settings say; existing keys stay unchanged')
    .action(init);
  withCommonOptions(group.command('list'))
    .description('list signing, cursor and checkpoint keys, newest first')
    .action(list);
  group.addCommand(rotateCommand());
  withWriteOptions(group.command('remove'))
    .description('remove a key; within 60 seconds every instance refuses what it signed or sealed')
    .argument('<kid>', 'the id of the key, as list shows it', parseKid)
    .action(remove);
  return group;
}

function rotateCommand(): Command {
  const group = new Command('rotate').description('create a new key; earlier keys stay valid until you remove them');
  for (const use of Object.keys(WORDS) as KeyUse[]) {
    withWriteOptions(group.command(use))
      .description(`create a new key, which ${WORDS[use].work} after 60 seconds`)
      .action((options: CommonOptions) => rotate(use, options));
  }
  return group;
}

async function init(options: CommonOptions): Promise<void> {
  const { makeMissingKeys } = await import('#libs/platform/keys');
  const { secretFiles } = await import('../../../features.js');
  const made = await makeMissingKeys(await settings(), secretFiles);
  const text = made.length === 0 ? 'All keys exist.' : `Made:\n  ${made.join('\n  ')}`;
  await print({ json: { made }, text: () => text }, options);
}

async function list(options: CommonOptions): Promise<void> {
  const { listKeys } = await import('../key-list.js');
  const items = await listKeys(await settings());
  const text = (): Promise<string> =>
    table(
      ['use', 'kid', 'current', 'created', 'x'],
      items.map(({ use, kid, current, createdAt, x }) => [use, kid, current, createdAt, x]),
    );
  await print({ json: { items }, text }, options);
}

async function rotate(use: KeyUse, options: CommonOptions): Promise<void> {
  const { Clock } = await import('#libs/kernel');
  const { KEY_KINDS, rotateKey, usedFrom } = await import('#libs/platform/keys');
  const { signingKeysDir } = await settings();
  const made = await rotateKey(KEY_KINDS[use], signingKeysDir, new Clock());
  const { kid } = made;
  const createdAt = new Date(made.createdAt).toISOString();
  const from = new Date(usedFrom(made.createdAt)).toISOString();
  const text = `Made the ${use} key ${kid}.\n${WORDS[use].rotated} with it from ${from} on; earlier keys are still accepted.`;
  await print({ json: { use, kid, createdAt, usedFrom: from }, text: () => text }, options);
}

async function remove(kid: string, options: CommonOptions): Promise<void> {
  const { KEY_KINDS, LastKey, removeFromCursorKeysFile, removeKey } = await import('#libs/platform/keys');
  const { listKeys } = await import('../key-list.js');
  const paths = await settings();
  const items = await listKeys(paths);
  const use = items.find((item) => item.kid === kid)?.use;
  if (use === undefined) throw unknown(kid);
  if (items.filter((item) => item.use === use).length === 1) throw new LastKey(use, kid);

  const { question, removed: told } = WORDS[use];
  await confirm(`Remove the ${use} key ${kid}? ${question}`, options);
  const { cursorKeysFile, signingKeysDir } = paths;
  const isInFile = use === 'cursor' && (await removeFromCursorKeysFile(cursorKeysFile, kid, signingKeysDir));
  const removed = isInFile || (await removeKey(KEY_KINDS[use], signingKeysDir, kid));
  if (!removed) throw unknown(kid);
  await print({ json: { use, kid, removed }, text: () => `Removed the ${use} key ${kid}. ${told}` }, options);
}

async function settings() {
  const { loadSettingsWithoutDatabase } = await import('#libs/platform/config');
  return loadSettingsWithoutDatabase(process.env);
}

const unknown = (kid: string): CommandFailed =>
  new CommandFailed(`There is no signing, cursor or checkpoint key "${kid}". Run "keys list" to see all.`);

function parseKid(value: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new InvalidArgumentError('A key id has 1 to 64 letters, digits, hyphens and underscores.');
}
