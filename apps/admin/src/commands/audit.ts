import { Command, InvalidArgumentError } from 'commander';
import type { EventKind, RecordedEvent } from '#libs/audit/operators';
import { unknownApplication } from './application-changes';
import { auditArchiveCommand } from './audit-archive';
import { CommandFailed, WrongUsage } from '../command-faults';
import type { Operator } from '../operator';
import { type CommonOptions, parseClientId, parseSlug, parseUuid, withCommonOptions } from '../options';
import { print, printLine, table } from '../output';
import { parseSince } from '../since-option';
import { visibleText } from '../visible-text';

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
  readonly limit?: number;
  readonly asset?: string;
  readonly application?: string;
  readonly since?: number;
  readonly ndjson?: boolean;
}

type Changes = RecordedEvent['changes'];
type KindOf = (event: RecordedEvent) => EventKind;

const DEFAULT_LIMIT = 100;
/** Maximum length of a value in output for people. `--json` prints it completely. */
const SHOWN_LENGTH = 60;

export function auditCommand(): Command {
  const group = new Command('audit').description('audit events: list, verify and archive them');
  withCommonOptions(group.command('list'))
    .description('list audit events, newest first')
    .option('--workspace <slug>', 'only of this workspace', parseSlug)
    .option('--limit <n>', `maximum number of events (default: ${DEFAULT_LIMIT}, with --ndjson all)`, parseLimit)
    .option('--asset <id>', 'only about this asset', parseUuid('An asset id is a UUID.'))
    .option('--application <client_id>', 'only by this application', parseClientId)
    .option(
      '--since <time>',
      'only since this time, such as 2026-01-31T08:00:00Z, or of the last 30s, 15m, 24h or 7d',
      parseSince,
    )
    .option('--ndjson', 'print one JSON document a line while reading')
    .action(list);
  withCommonOptions(group.command('verify'))
    .description('recompute every code and tree; exit code 1 when an event was altered, removed, added or moved')
    .option('--workspace <slug>', 'of this workspace only', parseSlug)
    .action(verify);
  group.addCommand(auditArchiveCommand());
  return group;
}

async function list(options: ListOptions): Promise<void> {
  if (options.json === true && options.ndjson === true) {
    throw new WrongUsage('--json and --ndjson exclude each other; give one of them.');
  }
  const { operate, workspaceOf } = await import('../operator.js');
  const { AuditOperatorModule, RecordedEvents, kindOf } = await import('#libs/audit/operators');
  const { AuthOperatorModule } = await import('#libs/auth/operators');
  const limit = options.limit ?? (options.ndjson === true ? Infinity : DEFAULT_LIMIT);
  const events = await operate([AuditOperatorModule, AuthOperatorModule], async (operator) => {
    const { workspace, asset, application, since } = options;
    const audit = operator.get(RecordedEvents);
    const { assetId } = await import('#libs/kernel');
    const filter = {
      workspaceIds: workspace ? [(await workspaceOf(operator, workspace)).id] : await audit.workspaces(),
      ...(asset === undefined ? {} : { assetId: assetId(asset) }),
      ...(application === undefined ? {} : { clientId: application }),
      ...(since === undefined ? {} : { since }),
    };
    const found: RecordedEvent[] = [];
    let none = true;
    for await (const event of audit.list(filter, limit)) {
      operator.checkInterrupted();
      none = false;
      if (options.ndjson !== true) found.push(event);
      else if (!(await printLine(eventJson(event, kindOf)))) break;
    }
    if (none && application !== undefined) await assertApplication(operator, application);
    return found;
  });
  if (options.ndjson !== true)
    await print(
      { json: { items: events.map((event) => eventJson(event, kindOf)) }, text: () => draw(events, kindOf) },
      options,
    );
}

/** Refuses an unknown id, unless events of a deleted application exist: an empty list would hide a typing error. */
async function assertApplication(operator: Operator, clientId: string): Promise<void> {
  const { Applications } = await import('#libs/auth/operators');
  if ((await operator.get(Applications).find(clientId)) !== null) return;
  const { RecordedEvents } = await import('#libs/audit/operators');
  const audit = operator.get(RecordedEvents);
  for await (const _ of audit.list({ workspaceIds: await audit.workspaces(), clientId }, 1)) return;
  throw unknownApplication(clientId);
}

async function verify(options: CommonOptions & { readonly workspace?: string }): Promise<void> {
  const { operate, workspaceOf } = await import('../operator.js');
  const { AuditOperatorModule, RecordedEvents } = await import('#libs/audit/operators');
  const { AuthOperatorModule, Workspaces } = await import('#libs/auth/operators');
  const verdict = await operate([AuditOperatorModule, AuthOperatorModule], async (operator) => {
    const audit = operator.get(RecordedEvents);
    const slugs = new Map((await operator.get(Workspaces).list()).map(({ id, slug }) => [id, slug]));
    const slugOf = (id: Parameters<typeof slugs.get>[0]): string => slugs.get(id) ?? id;
    const workspaceIds = options.workspace
      ? [(await workspaceOf(operator, options.workspace)).id]
      : (await audit.workspaces()).sort((one, other) => (slugOf(one) < slugOf(other) ? -1 : 1));
    const { firstBad, ...rest } = await operator.withProgress('events', (show) =>
      audit.verify(workspaceIds, ({ verified, known }) => show(verified, verified / known)),
    );
    if (firstBad === null) return { ...rest, firstBad };
    const { workspaceId, sequence, reason } = firstBad;
    return { ...rest, firstBad: { workspace: slugOf(workspaceId), sequence, reason } };
  });
  const { ok, sealed, unsealed, firstBad } = verdict;
  const text = (): string => (ok ? `${sealed} sealed and ${unsealed} unsealed events: all as they were recorded.` : '');
  await print({ json: { ok, sealed, unsealed, firstBad }, text }, options);
  if (firstBad === null) return;
  const place = firstBad.sequence === null ? 'not sealed' : `sequence ${firstBad.sequence}`;
  throw new CommandFailed(
    `The audit of "${firstBad.workspace}" does not verify (${place}): ${firstBad.reason}. See docs/audit.md.`,
  );
}

function eventJson(event: RecordedEvent, kindOf: KindOf) {
  const { workspaceId, id, occurredAt, assetId, applicationId, clientId, requestId, keyHash, ...rest } = event;
  const { actorName, changes, mac, sequence } = rest;
  const { action, actorType, targetType, targetId } = kindOf(event);
  return {
    ...{ workspaceId, id, occurredAt, action, actorType, actorName, targetType, targetId, assetId, applicationId },
    client_id: clientId,
    ...{ requestId, keyHash, changes, mac, sequence },
  };
}

function draw(events: readonly RecordedEvent[], kindOf: KindOf): Promise<string> {
  return table(
    ['occurred', 'action', 'by', 'target', 'changes', 'request', 'sequence'],
    events.map((event) => {
      const { occurredAt, clientId, actorName, changes, requestId, sequence } = event;
      const { action, targetId } = kindOf(event);
      // Forged events are shown, too, whatever their form.
      const lines = Object.entries(changes).map(([field, change]: [string, Partial<Changes[string]> | null]) => {
        return `${field}: ${shown(change?.old)} → ${shown(change?.new)}`;
      });
      return [occurredAt, action, clientId ?? actorName, targetId, lines, requestId, sequence];
    }),
  );
}

function shown(value: unknown): string {
  // Escapes first and cuts then, so that the shown text keeps the maximum length.
  const text = [...visibleText(JSON.stringify(value ?? null))];
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH).join('')}…` : text.join('');
}

function parseLimit(value: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('A limit is a whole number from 1 on.');
}
