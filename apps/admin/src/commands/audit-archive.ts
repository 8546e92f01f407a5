import { Command } from 'commander';
import { confirm } from '../confirmation';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, fromCaller, parseSlug } from '../options';
import { print } from '../output';
import { parseSince } from '../since-option';

interface ArchiveOptions extends CommonOptions {
  readonly workspace: string;
  /** Milliseconds since 1970. */
  readonly before: number;
}

export function auditArchiveCommand(): Command {
  return withWriteOptions(new Command('archive'))
    .description('move old events to files, with a checkpoint that proves them; cannot be undone')
    .argument('<dir>', 'the directory for the files', fromCaller)
    .requiredOption('--workspace <slug>', 'the workspace', parseSlug)
    .requiredOption('--before <date>', 'recorded before this time, such as 2026-01-31, or 90d ago', parseSince)
    .action(archive);
}

async function archive(directory: string, { workspace, before: time, ...options }: ArchiveOptions): Promise<void> {
  const before = new Date(time);
  await confirm(`Archive the audit of "${workspace}" before ${before.toISOString()}, and remove it?`, options);
  const { operateIn } = await import('../operator.js');
  const { AuditArchiveService, AuditOperatorModule } = await import('#libs/audit/operators');
  const done = await operateIn(workspace, [AuditOperatorModule], (operator, { id }) =>
    operator.withProgress('events', (show) =>
      operator
        .get(AuditArchiveService)
        .archive({ id, slug: workspace }, before, directory, (step) => show(step.done, step.done / step.known)),
    ),
  );
  const { first = null, last = null, file = null, checkpoint = null } = done ?? {};
  const archived = done === null ? 0 : done.last - done.first + 1;
  const json = { workspace, archived, firstSequence: first, lastSequence: last, file, checkpoint };
  const text = (): string => (done === null ? 'No event can be archived.' : `Archived ${archived} events in ${file}.`);
  await print({ json, text }, options);
}
