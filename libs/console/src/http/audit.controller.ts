import { Controller, Get, Res } from '@nestjs/common';
import { ACTIONS, AuditCheckpointStore, AuditEventQueryDto, PublishedEvents } from '#libs/audit';
import { Clock, DAY_MS, DomainError, jsonLine, personName } from '#libs/kernel';
import { FeedPaging } from '#libs/platform/change-pages';
import type { Response } from 'express';
import { Access, Sent, type SentTo } from './access.decorator';
import { Downloads } from './downloads';
import { listQuery, sendList } from './list-query';
import { type NameOf, Names, actorText } from './names';

const RESOURCE = 'audit-events';
/** Events of a page, which reads the names of all that they name. */
const MOST_EVENTS = 100;
/** Without a first day, the page begins so many days before its end. */
const DAYS = 7;
/** Postgres takes no year before it. */
const FIRST_DAY = Date.parse('0001-01-01');

@Controller('audit')
@Access('viewer')
export class AuditController {
  constructor(
    private readonly published: PublishedEvents,
    private readonly checkpoints: AuditCheckpointStore,
    private readonly paging: FeedPaging,
    private readonly names: Names,
    private readonly clock: Clock,
    private readonly downloads: Downloads,
  ) {}

  @Get()
  async list(@Sent() { me: { workspaceId } }: SentTo, @Res() response: Response): Promise<void> {
    await sendList(response, 'audit', { title: 'Audit', actions: ACTIONS }, async () => {
      const query = await listQuery(AuditEventQueryDto, response.req);
      const { start, filters, texts, ...wanted } = this.paging.request(workspaceId, RESOURCE, query, response);
      const size = Math.min(wanted.size, MOST_EVENTS);
      const now = this.clock.now();
      const end = Math.min(filters.until?.getTime() ?? now, now);
      const since = new Date(Math.max(end - DAYS * DAY_MS, FIRST_DAY));
      const from = start.kind === 'beginning' ? ({ kind: 'since', since } as const) : start;
      const [page, checkpoint] = await Promise.all([
        this.published.read(workspaceId, filters, from, size).catch((error: unknown) => {
          // Archived meanwhile. The page begins after them, unless somebody asked for a time.
          const isArchived = error instanceof DomainError && error.code === 'cursor_expired';
          if (start.kind !== 'beginning' || !isArchived) throw error;
          return this.published.read(workspaceId, filters, start, size);
        }),
        this.checkpoints.newest(workspaceId),
      ]);
      const { resumeCursor } = this.paging.envelope(response, workspaceId, RESOURCE, page, texts);
      const named = page.changes.flatMap(({ actor, target, changes }) => [
        ...[actor.clientId, actor.personId, target.id],
        ...changes.filter(isOfOwner).flatMap((change) => [change.old, change.new]),
      ]);
      const nameOf = await this.names.of(workspaceId, named);
      return {
        // The day stays as it was typed.
        ...{ filters: texts, cursor: page.hasMore ? resumeCursor : null, typed: response.req.query },
        ...{ checkpoint, waiting: page.oldestWaiting, since: from.kind === 'since' ? from.since : null },
        // The newest first: whoever looks wants to know what happened lately.
        events: [...page.changes].reverse().map(({ actor: { type, clientId, name = null, personId }, ...event }) => ({
          ...event,
          who: actorText(type, clientId, personId == null ? name : personName(personId), nameOf),
          target: { ...event.target, name: nameOf.get(event.target.id) ?? event.target.id },
          changes: event.changes.map((change) => ({
            field: isOfOwner(change) ? 'owner' : change.field,
            old: valueText(change.old, nameOf),
            new: valueText(change.new, nameOf),
          })),
        })),
      };
    });
  }

  @Get('download')
  async download(@Sent() { me }: SentTo, @Res() response: Response): Promise<void> {
    const query = await listQuery(AuditEventQueryDto, response.req);
    const { start, filters } = this.paging.request(me.workspaceId, RESOURCE, query, response);
    await this.downloads.send(me, response, {
      ...{ name: `${RESOURCE}.ndjson`, mediaType: 'application/x-ndjson', head: '' },
      reader: async ({ size, after }) => {
        const from = after === null ? start : ({ kind: 'position', position: after } as const);
        const { changes, position, hasMore } = await this.published.read(me.workspaceId, filters, from, size);
        return { items: changes, lastPosition: position, endPosition: hasMore ? position : null, totalCount: 0 };
      },
      line: (event) => `${jsonLine(event)}\n`,
    });
  }
}

const isOfOwner = ({ field }: { readonly field: string }): boolean => field === 'ownerId';

const valueText = (value: unknown, nameOf: NameOf): string =>
  value === null ? 'none' : (nameOf.get(value) ?? (typeof value === 'string' ? value : JSON.stringify(value)));
