import { access, constants } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { AuditArchive } from '#libs/audit/operators';
import type { Workspace } from '#libs/auth/operators';
import { CommandFailed } from '../command-faults';
import { confirm } from '../confirmation';
import type { Operator } from '../operator';
import { withWriteOptions } from '../operator-name';
import { type CommonOptions, fromCaller, parseSlug } from '../options';
import { print, say, table } from '../output';

/** Streams end within five seconds after their application was disabled. Then they leave an audit event. */
const STREAMS_END_MS = 6_000;

type Archives = (AuditArchive | null)[];

export function workspaceDeletionCommand(): Command {
  return withWriteOptions(new Command('delete'))
    .description('delete a workspace with everything in it, after its audit was archived; cannot be undone')
    .argument('<slug>', 'the workspace', parseSlug)
    .requiredOption('--archive <dir>', 'the directory for the files of its audit', fromCaller)
    .action(deleteWorkspace);
}

async function deleteWorkspace(
  slug: string,
  { archive: directory, ...options }: CommonOptions & { readonly archive: string },
): Promise<void> {
  await assertWritable(directory);
  const { operateIn } = await import('../operator.js');
  const { AuditOperatorModule } = await import('#libs/audit/operators');
  const { Workspaces } = await import('#libs/auth/operators');
  const { rows, archives } = await operateIn(slug, [AuditOperatorModule], async (operator, workspace) => {
    const counts = await operator.get(Workspaces).rowCounts(workspace.id);
    say(await table(['table', 'rows'], Object.entries(counts)));
    await confirm(`Delete the workspace "${slug}" and all of this for good?`, options, slug);
    return { rows: counts, archives: await remove(operator, workspace, directory) };
  });
  const text = (): string => {
    const files = archives.map(({ file }) => ` Its audit is in ${file}.`);
    return `Deleted the workspace "${slug}".${files.join('')}`;
  };
  const asJson = archives.map(({ first, last, file, checkpoint }) => {
    return { firstSequence: first, lastSequence: last, file, checkpoint };
  });
  await print({ json: { workspace: slug, deleted: rows, archives: asJson }, text }, options);
}

/** Each step may be repeated, so that the command completes what an interrupted one began. */
async function remove(operator: Operator, workspace: Workspace, directory: string): Promise<AuditArchive[]> {
  const { AUDIT_TABLES, AuditArchiveService, forgetAudit } = await import('#libs/audit/operators');
  const { Workspaces } = await import('#libs/auth/operators');
  const [audit, workspaces] = [operator.get(AuditArchiveService), operator.get(Workspaces)];
  const archive = (): Promise<AuditArchive | null> =>
    operator.withProgress('events', (show) =>
      audit.archiveAll(workspace, directory, ({ done, known }) => show(done, done / known)),
    );
  await disableApplications(operator, workspace);
  const archives: Archives = [await archive()];
  await operator.withProgress('rows', (show) =>
    workspaces.deleteRows(workspace.id, AUDIT_TABLES, (deleted) => show(deleted, null)),
  );
  // A request that was under way may have left another event.
  archives.push(await archive());
  await workspaces.delete(workspace.id, forgetAudit);
  return archives.filter((one) => one !== null);
}

/** Ends tokens and streams, so that nobody writes any more. */
async function disableApplications(operator: Operator, { id }: Workspace): Promise<void> {
  const { Applications } = await import('#libs/auth/operators');
  const applications = operator.get(Applications);
  const all = await applications.list(id);
  for (const { clientId, disabled } of all) {
    operator.checkInterrupted();
    if (!disabled) await applications.setDisabled(clientId, true);
  }
  if (all.every(({ issuedAt }) => issuedAt === null)) return;
  say('Waiting for streams to end.');
  await delay(STREAMS_END_MS);
  operator.checkInterrupted();
}

/** Before anything is changed. */
async function assertWritable(directory: string): Promise<void> {
  try {
    await access(`${directory}/`, constants.W_OK);
  } catch {
    throw new CommandFailed(`${directory} is no directory that this user may write to. Nothing was changed.`);
  }
}
