import { Command, InvalidArgumentError } from 'commander';
import type { ImportedSource } from '#libs/inventory/operators';
import type { Page } from '#libs/kernel';
import { CommandFailed } from '../command-faults';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, parseDuration, parseSlug, parseSource, withCommonOptions } from '../options';
import { card, print, table } from '../output';
import { whoOf } from './imports';

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
}

interface SetOptions extends CommonOptions {
  readonly workspace: string;
  readonly source: string;
  readonly staleAfter: number | 'never';
}

const PAGE = 1_000;
/** Largest value of the type integer. */
const MOST_SECONDS = 2_147_483_647;

export function sourcesCommand(): Command {
  const group = new Command('sources').description('the systems that assets come from, and how fresh they are');
  withCommonOptions(group.command('list'))
    .description('list sources with their latest import')
    .option('--workspace <slug>', 'only of this workspace', parseSlug)
    .action(list);
  withWriteOptions(group.command('set'))
    .description('set the age from which the last completed import of a source is stale')
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--source <name>', 'the source', parseSource)
    .requiredOption('--stale-after <duration>', 'such as 26h or 8d; "never" ends the alert', parseStaleAfter)
    .action(set);
  return group;
}

async function list({ workspace, ...options }: ListOptions): Promise<void> {
  const { operate, workspaceOf } = await import('../operator.js');
  const { AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  const { ImportRuns, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const { newestOf } = await import('#libs/kernel');
  const found = await operate([AuthOperatorModule, InventoryOperatorModule], async (operator) => {
    const runs = operator.get(ImportRuns);
    await runs.markInterrupted();
    const workspaces =
      workspace === undefined ? await operator.get(Workspaces).list() : [await workspaceOf(operator, workspace)];
    const sources = [];
    for (const { id, slug } of workspaces) {
      let after: string | null = null;
      do {
        const page: Page<ImportedSource> = await runs.sources(newestOf(id), { size: PAGE, after });
        sources.push(...page.items.map((source) => ({ workspace: slug, ...source })));
        after = page.endPosition;
      } while (after !== null);
    }
    return sources;
  });
  const items = found.map(({ lastImport, ...source }) => ({
    ...source,
    lastImport: lastImport && { ...lastImport, who: whoOf(lastImport) },
  }));
  const rows = items.map((item) => [
    ...[item.workspace, item.source, item.assetCount, item.lastCompletedAt],
    ...[item.lastImport?.outcome, item.staleAfterSeconds === null ? 'never' : `${item.staleAfterSeconds} s`],
  ]);
  const headings = ['workspace', 'source', 'visible assets', 'last completed', 'latest import', 'stale after'];
  await print({ json: { items }, text: () => table(headings, rows) }, options);
}

async function set({ workspace, source, staleAfter, ...options }: SetOptions): Promise<void> {
  const seconds = staleAfter === 'never' ? null : staleAfter;
  const { operateIn } = await import('../operator.js');
  const { ImportRuns, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const isSet = await operateIn(workspace, [InventoryOperatorModule], (operator, { id }) =>
    operator.get(ImportRuns).setStaleAfter(id, source, seconds),
  );
  if (!isSet) {
    throw new CommandFailed(`The workspace "${workspace}" has no source "${source}". Run "sources list" to see all.`);
  }
  const json = { workspace, source, staleAfterSeconds: seconds };
  await print({ json, text: () => card({ ...json, staleAfterSeconds: seconds ?? 'never' }) }, options);
}

function parseStaleAfter(value: string): number | 'never' {
  if (value === 'never') return value;
  const seconds = parseDuration(value);
  if (seconds <= MOST_SECONDS) return seconds;
  throw new InvalidArgumentError('A limit is at most 24855d.');
}
