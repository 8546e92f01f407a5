import { Command } from 'commander';
import type { Workspace } from '#libs/auth/operators';
import type { TagKey, TagKeyRepository } from '#libs/inventory/operators';
import { CommandFailed } from '../command-faults';
import type { Operator } from '../operator';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseSlug, parseTagKey, parseTagValue, withCommonOptions } from '../options';
import { card, print, table } from '../output';

interface KeyOptions extends CommonOptions {
  readonly workspace: string;
  readonly key: string;
}

interface CreateOptions extends KeyOptions {
  readonly value?: string;
  readonly platform?: boolean;
}

export function tagKeysCommand(): Command {
  const group = new Command('tag-keys').description('keys that tags of a workspace may have');
  withWriteOptions(group.command('create'))
    .description('create a tag key')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--key <key>', 'the key', parseTagKey)
    .option('--value <value>', 'the value that every asset with this key shows', parseTagValue)
    .option('--platform', 'managed by the platform: clients can read tags of this key but not set them')
    .action(create);
  withCommonOptions(group.command('list'))
    .description('list the tag keys of a workspace')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .action(list);
  withWriteOptions(group.command('delete'))
    .description('remove a tag key from every asset and delete it; cannot be undone')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--key <key>', 'the key', parseTagKey)
    .action(remove);
  return group;
}

async function create({ workspace, key, value, platform, ...options }: CreateOptions): Promise<void> {
  const made = await withTagKeys(workspace, (tagKeys, { id }) =>
    tagKeys.create(id, { key, value: value ?? null, platform: platform ?? false }),
  );
  if (made === null) throw new CommandFailed(`The workspace "${workspace}" already has the tag key "${key}".`);
  await print({ json: tagKeyJson(made), text: () => card(tagKeyJson(made)) }, options);
}

async function list(options: CommonOptions & { readonly workspace: string }): Promise<void> {
  const tagKeys = await withTagKeys(options.workspace, (keys, { id }) => keys.list(id));
  const rows = tagKeys.map(({ key, value, platform, createdAt }) => [key, value, platform, createdAt]);
  const text = (): Promise<string> => table(['key', 'value', 'platform', 'created'], rows);
  await print({ json: { items: tagKeys.map(tagKeyJson) }, text }, options);
}

async function remove({ workspace, key, ...options }: KeyOptions): Promise<void> {
  await confirm(`Remove the tag key "${key}" from every asset of "${workspace}" and delete it?`, options);
  const removed = await withTagKeys(workspace, (tagKeys, { id }, operator) =>
    operator.withProgress('assets', (show) => tagKeys.delete(id, key, (assets) => show(assets, null))),
  );
  if (removed === null) throw new CommandFailed(`The workspace "${workspace}" has no tag key "${key}".`);
  const { assets } = removed;
  await print({ json: { key, assets }, text: () => `Deleted "${key}", which ${assets} assets had.` }, options);
}

async function withTagKeys<Result>(
  slug: string,
  work: (tagKeys: TagKeyRepository, workspace: Workspace, operator: Operator) => Promise<Result>,
): Promise<Result> {
  const { operateIn } = await import('../operator.js');
  const { InventoryOperatorModule, TagKeyRepository } = await import('#libs/inventory/operators');
  return operateIn(slug, [InventoryOperatorModule], (operator, workspace) =>
    work(operator.get(TagKeyRepository), workspace, operator),
  );
}

function tagKeyJson({ key, value, platform, createdAt }: TagKey) {
  return { key, value, platform, createdAt };
}
