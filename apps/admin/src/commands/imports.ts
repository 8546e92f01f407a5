import { Command } from 'commander';
import type { RecordedRun } from '#libs/inventory/operators';
import { personIdIn } from '#libs/kernel';
import { CommandFailed, WrongUsage } from '../command-faults';
import { faultLine } from '../fault-line';
import { type CommonOptions, parseSlug, parseSource, withCommonOptions } from '../options';
import { card, print, table } from '../output';

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
  readonly source?: string;
}

/** Enough for months of nightly imports. `--workspace` and `--source` narrow the list. */
const MOST_LISTED = 100;

export function importsCommand(): Command {
  const group = new Command('imports').description('records of imports, kept for 400 days');
  withCommonOptions(group.command('list'))
    .description(`list the latest ${MOST_LISTED} imports, newest first`)
    .option('--workspace <slug>', 'only of this workspace', parseSlug)
    .option('--source <name>', 'only of this source', parseSource)
    .action(list);
  withCommonOptions(group.command('show'))
    .description('show an import with its first 1,000 errors and warnings')
    .argument('<id>', 'the import, as "imports list" names it')
    .action(show);
  return group;
}

async function list({ workspace, source, ...options }: ListOptions): Promise<void> {
  const { operate, workspaceOf } = await import('../operator.js');
  const { AuthOperatorModule } = await import('#libs/auth/operators');
  const { ImportRuns, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const found = await operate([AuthOperatorModule, InventoryOperatorModule], async (operator) => {
    const workspaceId = workspace === undefined ? null : (await workspaceOf(operator, workspace)).id;
    const runs = operator.get(ImportRuns);
    await runs.markInterrupted();
    return runs.latest({ workspaceId, source: source ?? null }, MOST_LISTED);
  });
  const rows = found.map(({ workspace: slug, run }) => [
    ...[run.id, slug, run.source, run.startedAt, run.outcome, whoOf(run)],
    ...[run.read, run.created, run.updated, run.hidden, run.failed, run.warned],
  ]);
  const headings = ['id', 'workspace', 'source', 'started', 'outcome', 'who'];
  const counts = ['read', 'created', 'updated', 'hidden', 'failed', 'warned'];
  const items = found.map(({ workspace: slug, run }) => runJson(slug, run));
  await print({ json: { items }, text: () => table([...headings, ...counts], rows) }, options);
}

async function show(id: string, options: CommonOptions): Promise<void> {
  const { isUuid } = await import('#libs/kernel');
  if (!isUuid(id)) throw new WrongUsage(`"${id}" is no id of an import. Run "imports list" to see all.`);
  const { operate } = await import('../operator.js');
  const { ImportRuns, InventoryOperatorModule } = await import('#libs/inventory/operators');
  const found = await operate([InventoryOperatorModule], async (operator) => {
    const runs = operator.get(ImportRuns);
    await runs.markInterrupted();
    return runs.find(id);
  });
  if (found === null) throw new CommandFailed(`There is no import ${id}. Run "imports list" to see all.`);
  const { workspace, run, errors, warnings } = found;
  const json = runJson(workspace, run);
  const { files, options: asked, ...members } = json;
  const text = async (): Promise<string> =>
    [
      await card({
        ...members,
        files: files.map(({ name, bytes }) => `${name} (${bytes ?? 'unknown'} bytes)`),
        options: Object.entries(asked).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
      }),
      ...errors.map((error) => faultLine(error, 'error')),
      ...warnings.map((warning) => faultLine(warning, 'warning')),
    ].join('\n');
  await print({ json: { ...json, errors, warnings }, text }, options);
}

/** The operator's name, or the id of the person who uploaded the file. */
export const whoOf = ({ who }: RecordedRun): string | null => personIdIn(who) ?? who;

function runJson(workspace: string, run: RecordedRun) {
  const { id, source, startedAt, endedAt, outcome, map, options, files } = run;
  const { read, created, updated, unchanged, hidden, failed, skipped, warned, rekeyed, hiddenWhy } = run;
  return {
    ...{ id, workspace, source, startedAt, endedAt, outcome, who: whoOf(run), map, options, files },
    ...{ read, created, updated, unchanged, hidden, failed, skipped, warned, rekeyed, hiddenWhy },
  };
}
